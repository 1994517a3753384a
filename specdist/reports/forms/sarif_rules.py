"""The rules of a SARIF log: a descriptor for each ident that the run met, from its page."""

from __future__ import annotations

from specdist.findings import catalogue
from specdist.model.outcome import Outcome
from specdist.reports.json_numbers import Object

_CHECKS = "## What it checks"
_OUTCOMES = {
    Outcome.FAILED.value: "the run fails",
    Outcome.UNDECIDED.value: "the run or a step of it is undecided",
    Outcome.NOTHING_CHECKED.value: "the run checked nothing",
}
"""Of what no finding says; see `entries.Entry.ident`."""


class Rules:
    """Descriptors in the order in which they are met. ``written`` is what the log holds."""

    def __init__(self) -> None:
        self.written: list[Object] = []
        self._index: dict[str, int] = {}

    def index_of(self, ident: str) -> int:
        """Where the rule of an ident stands in the list."""
        if ident not in self._index:
            self._index[ident] = len(self.written)
            self.written.append(descriptor(ident))
        return self._index[ident]


def descriptor(ident: str) -> Object:
    """What a viewer shows of a rule: a line, a paragraph, and the page as help."""
    entry, page = catalogue.find(ident), catalogue.page(ident)
    summary = entry.summary if entry is not None else _OUTCOMES.get(ident, ident)
    severity = entry.severity if entry is not None else "error"
    name = "".join(word.capitalize() for word in ident.split("-"))
    found: Object = {
        "id": ident,
        "name": name if entry is not None else f"Run{name}",  # never the id itself
        "shortDescription": {"text": _sentence(summary)},
        "fullDescription": {"text": _paragraph(page) or _sentence(summary)},
        "defaultConfiguration": {"level": severity},
        "help": {"text": f"specdist explain {ident}"},
    }
    if page is not None:
        found["help"] = {"text": page, "markdown": page}
    return found


def _sentence(words: str) -> str:
    return f"{words[:1].upper()}{words[1:]}."


def _paragraph(page: str | None) -> str:
    """The first paragraph on what is checked."""
    if page is None or _CHECKS not in page:
        return ""
    paragraph = page.partition(_CHECKS)[2].strip().split("\n\n")[0]
    return " ".join(paragraph.split())
