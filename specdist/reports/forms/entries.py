"""Everything that a run has to say, in one list, the worst first: what SARIF, GitHub and GitLab
translate entry by entry."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import IntEnum

from specdist.model.capture import Unreadable
from specdist.model.finding import Finding, Severity
from specdist.model.outcome import Outcome
from specdist.reports.outline import Case, Outline, Told
from specdist.reports.terminal import unreadable_lines
from specdist.reports.view import View

OPEN_IDENTS = frozenset(
    {
        "undecided-precision",
        "undecided-budget",
        "configuration-needed",
        "truncated-row",
        "baseline-regression",
    }
)
"""Warnings of a run that say what it leaves open; those of a step do where it is undecided."""


class Weight(IntEnum):
    """What an entry means to the run, the worst first. ``BROKEN``: something could not be checked
    at all; ``TOLERATED``: a difference within the tolerance that the user declared."""

    BROKEN = 0
    FAILS = 1
    OPEN = 2
    WARNING = 3
    TOLERATED = 4
    ALLOWED = 5
    NOTE = 6


@dataclass(frozen=True, slots=True)
class Entry:
    """One thing to say. ``ident`` is one of the catalogue or, where no finding says it, an outcome
    (``undecided``, ``nothing-checked``, ``failed``); ``tell`` makes the long text."""

    ident: str
    weight: Weight
    message: str
    tell: Callable[[], str]
    source: str = ""
    case: str = ""
    place: str = ""
    position: int | None = None
    size: float = 0.0
    finding: Finding | None = None

    @property
    def lesson(self) -> str:
        """The text that a terminal shows."""
        return self.tell()


def entries(outline: Outline) -> list[Entry]:
    """Every entry of a run, the worst first, the largest difference first among equals."""
    found = list(of_run(outline))
    if outline.command not in ("replay", "audit"):  # findings are those of the run, cases counts
        found += [entry for case in outline.cases for entry in of_case(case)]
    worst = min((entry.weight for entry in found), default=Weight.NOTE)
    if outline.outcome is Outcome.NOTHING_CHECKED:
        found.append(of_outcome(outline, Weight.BROKEN))
    elif outline.outcome is Outcome.FAILED and worst > Weight.FAILS:
        found.append(of_outcome(outline, Weight.FAILS))
    elif outline.outcome is Outcome.UNDECIDED and worst > Weight.OPEN:
        found.append(of_outcome(outline, Weight.OPEN))
    return sorted(found, key=lambda entry: (entry.weight, -entry.size))


def of_run(outline: Outline) -> Iterator[Entry]:
    """What concerns the run as a whole, and the files that could not be read."""
    for item in outline.unreadable:
        yield _broken(item)
    for told in outline.findings:
        is_open = told.finding.ident in OPEN_IDENTS
        yield _entry(told, Outcome.UNDECIDED if is_open else Outcome.PASSED)


def of_case(case: Case) -> list[Entry]:
    """What concerns one case; a case that is not a pass has something to say."""
    found = [_entry(told, case.outcome) for told in case.findings]
    worst = min((entry.weight for entry in found), default=Weight.NOTE)
    weight = {Outcome.FAILED: Weight.FAILS, Outcome.UNDECIDED: Weight.OPEN}.get(case.outcome)
    if weight is not None and worst > weight:
        message = f"{case.id}: {case.verdict}"
        found.append(_plain(case.outcome, weight, message, case))
    return found


def of_outcome(outline: Outline, weight: Weight) -> Entry:
    """What the run came to, for a run of which nothing else says it."""
    return _plain(outline.outcome, weight, outline.headline)


def _plain(outcome: Outcome, weight: Weight, message: str, case: Case | None = None) -> Entry:
    """What no finding says: the message is all there is."""
    place = ("", "", "") if case is None else (case.source, case.id, case.place)
    return Entry(outcome.value, weight, message, lambda: message, *place)


def _entry(told: Told, outcome: Outcome) -> Entry:
    finding = told.finding
    return Entry(
        finding.ident,
        _weight(told, outcome),
        finding.message,
        told.tell,
        told.source,
        told.case,
        told.place,
        finding.position,
        told.size,
        finding,
    )


def _weight(told: Told, outcome: Outcome) -> Weight:
    if told.fails:
        return Weight.FAILS
    if told.finding.allowed:
        return Weight.ALLOWED
    if told.finding.severity is Severity.ERROR:
        return Weight.TOLERATED
    if told.finding.severity is Severity.NOTE:
        return Weight.NOTE
    return Weight.OPEN if outcome is Outcome.UNDECIDED else Weight.WARNING


def _broken(item: Unreadable) -> Entry:
    def lesson() -> str:
        return "\n".join(unreadable_lines(item, View()))

    place = item.place or item.source
    weight = Weight.BROKEN if item.counts else Weight.NOTE
    return Entry(item.ident, weight, item.message, lesson, item.source, "", place)
