"""One result of a SARIF log, and its places."""

from __future__ import annotations

from collections.abc import Sequence

from specdist.reports.forms.clean_text import cut, one_line, printable
from specdist.reports.forms.entries import Entry, Weight
from specdist.reports.forms.fingerprints import Fingerprints
from specdist.reports.forms.places import Where, uri_of, where_of
from specdist.reports.forms.sarif_rules import Rules
from specdist.reports.json_numbers import Object

LONGEST = 8000
MOST_FILES = 10

LEVELS = {
    Weight.BROKEN: ("fail", "error"),
    Weight.FAILS: ("fail", "error"),
    Weight.OPEN: ("open", "none"),
    Weight.WARNING: ("fail", "warning"),
    Weight.TOLERATED: ("fail", "note"),
    Weight.ALLOWED: ("fail", "note"),
    Weight.NOTE: ("informational", "none"),
}
SUPPRESSED = {
    Weight.TOLERATED: "within the tolerance that the run declares",
    Weight.ALLOWED: "allowed by the settings of the run",
}


def result(
    entry: Entry,
    rules: Rules,
    prints: Fingerprints,
    figures: Object,
    root: str,
    full: bool,
    sources: Sequence[str],
) -> Object:
    """The result of an entry; ``full``: with the whole lesson. What concerns the run as a whole is
    placed at the captures, for code scanning takes no result without a file.

    GitHub tells alerts apart by ``primaryLocationLineHash`` alone, meant to be a hash of a line of
    source; captures have no lines that stay, so it holds the fingerprint.
    """
    kind, level = LEVELS[entry.weight]
    text = f"{entry.message} ({entry.place})." if entry.place else f"{entry.message}."
    if full and (lesson := entry.lesson) != entry.message:
        text += f"\n\n{lesson}"
    places = _places(entry, root, sources)
    stable = prints.of(entry, places[0].path)
    written: Object = {
        "ruleId": entry.ident,
        "ruleIndex": rules.index_of(entry.ident),
        "kind": kind,
        "level": level,
        "message": {"text": cut(printable(text), LONGEST)},
        "locations": [{**location(where), **_logical(entry)} for where in places],
        "partialFingerprints": {"specdist/v1": stable, "primaryLocationLineHash": stable},
        "properties": _properties(entry, figures),
    }
    if entry.weight in SUPPRESSED:
        reason = {"kind": "external", "status": "accepted"}
        written["suppressions"] = [{**reason, "justification": SUPPRESSED[entry.weight]}]
    return written


def location(where: Where) -> Object:
    """A file, with its line where that is known; relative paths are those of the repository."""
    place: Object = {"artifactLocation": artifact(where.path)}
    if where.line is not None:
        place["region"] = {"startLine": where.line}
    return {"physicalLocation": place}


def artifact(path: str) -> Object:
    """The URI of a file."""
    uri = uri_of(path)
    return {"uri": uri} if path.startswith("/") else {"uri": uri, "uriBaseId": "%SRCROOT%"}


def _places(entry: Entry, root: str, sources: Sequence[str]) -> list[Where]:
    """Where it is; of the whole run, the captures. Code scanning refuses the whole log for one
    result without a file, so rows from elsewhere get the name of where they came from."""
    if entry.source:
        own = where_of(entry.source, entry.place, root)
        return [own if own.path else _no_file(entry.source)]
    files = [where_of(source, "", root) for source in sources]
    named = dict.fromkeys(where for where in files if where.path)
    return list(named)[:MOST_FILES] or [_no_file(sources[0] if sources else "specdist")]


def _no_file(source: str) -> Where:
    """``stdin`` or ``command-line``."""
    return Where(source.strip("<>").replace(" ", "-"))


def _logical(entry: Entry) -> Object:
    """The step and the position within the file."""
    if not entry.case:
        return {}
    step = one_line(entry.case)
    name, full = f"step {step}", f"steps/{step}"
    if entry.position is not None:
        bonus = entry.position < 0
        name += ", bonus row" if bonus else f", position {entry.position}"
        full += "/bonus" if bonus else f"/positions/{entry.position}"
    return {"logicalLocations": [{"name": name, "fullyQualifiedName": full, "kind": "object"}]}


def _properties(entry: Entry, figures: Object) -> Object:
    """What a program may want: the exact figures of the step, repairs, the line to paste."""
    found: Object = {"figures": figures} if figures else {}
    if entry.place:
        found["place"] = one_line(entry.place)
    if entry.finding is not None:
        found["severity"] = entry.finding.severity.value
        found["repairs"] = [list(repair) for repair in entry.finding.repairs]
        if entry.finding.reproduce:
            found["reproduce"] = printable(entry.finding.reproduce)
    return found
