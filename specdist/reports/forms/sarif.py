"""SARIF 2.1.0 (OASIS standard; docs.oasis-open.org/sarif/sarif/v2.1.0), for code scanning.

What is wrong is a result of kind ``fail``; what is undecided one of kind ``open``, whose level has
to be ``none`` (3.27.9, 3.27.10). Equal steps are no results: GitHub reads no kinds and would show
each as an alert; how many there are stands in the properties of the run. What is allowed or within
the declared tolerance is suppressed, and a level ``note``, for readers that overlook suppressions.
Notes and files that cannot be read are notifications of the invocation; the latter are results
too, since code scanning shows nothing else.

GitHub rejects a file with more than 25,000 results a run or 10 MB after gzip, and shows the 5,000
most severe: results come the worst first, end at 25,000, and beyond 5,000 are without the long
text. How many were left out is a notification and a property of the run.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

from specdist.model.outcome import Outcome
from specdist.reports.forms.clean_text import one_line, printable
from specdist.reports.forms.entries import Entry, Weight, entries
from specdist.reports.forms.fingerprints import Fingerprints
from specdist.reports.forms.form import AnyReport, FormOptions
from specdist.reports.forms.places import path_of, where_of
from specdist.reports.forms.sarif_results import artifact, location, result
from specdist.reports.forms.sarif_rules import Rules
from specdist.reports.forms.shown_figures import figure_values, setting_texts
from specdist.reports.json_numbers import Object
from specdist.reports.outline import Outline, file_of
from specdist.reports.outlines import outline_of

SCHEMA = (
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
)
MOST = 25_000
IN_FULL = 5_000


def render(report: AnyReport, options: FormOptions) -> str:
    """The log: one run."""
    outline = outline_of(report, options)
    found = entries(outline)
    told = [e for e in found if _is_result(e)]
    notes = [e for e in found if e.weight is Weight.NOTE]
    rules, prints = Rules(), Fingerprints()
    figures = {(case.source, case.id): case.figures for case in outline.cases}
    results = []
    for count, entry in enumerate(told[:MOST]):
        named = figure_values(figures.get((entry.source, entry.case), ()), options.exact)
        full = count < IN_FULL
        results.append(result(entry, rules, prints, named, options.root, full, outline.sources))
    left = len(told) - len(results)
    run = {
        "tool": {"driver": {**_driver(outline), "rules": rules.written}},
        "invocations": [_invocation(outline, notes, left, options)],
        "artifacts": _artifacts(outline, options.root),
        "columnKind": "unicodeCodePoints",
        "results": results,
        "properties": _properties(outline, options, left),
    }
    log = {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}
    return json.dumps(log, indent=1) + "\n"


def _is_result(entry: Entry) -> bool:
    return entry.weight is not Weight.NOTE and entry.ident != Outcome.NOTHING_CHECKED.value


def _driver(outline: Outline) -> Object:
    return {
        "name": "specdist",
        "version": outline.version,
        "semanticVersion": outline.version,
        "shortDescription": {
            "text": "Decides exactly whether a speculative decoder emits what its target would."
        },
    }


def _invocation(
    outline: Outline, notes: Sequence[Entry], left: int, options: FormOptions
) -> Object:
    """A run that checked nothing, or could not read a file, did not do what it was asked."""
    broken = any(item.counts for item in outline.unreadable)
    nothing = outline.outcome is Outcome.NOTHING_CHECKED
    return {
        "executionSuccessful": not broken and not nothing,
        "exitCode": options.code,
        "exitCodeDescription": one_line(outline.headline),
        "toolExecutionNotifications": list(_notifications(outline, notes, left, options)),
    }


def _notifications(
    outline: Outline, notes: Sequence[Entry], left: int, options: FormOptions
) -> Iterator[Object]:
    """Files that could not be read, nothing checked, results left out; then the notes, one of
    each ident with a count."""
    for item in outline.unreadable:
        said = _notification("error", item.ident, item.message)
        where = where_of(item.source, item.place, options.root)
        yield {**said, **({"locations": [location(where)]} if where.path else {})}
    if outline.outcome is Outcome.NOTHING_CHECKED:
        yield _notification("error", outline.outcome.value, outline.headline)
    if left:
        text = f"{left} results were left out: code scanning takes {MOST} of a run"
        yield _notification("warning", "results-left-out", text)
    folded: dict[str, list[Entry]] = {}
    for entry in notes:
        folded.setdefault(entry.ident, []).append(entry)
    for ident, group in folded.items():
        more = f" (and {len(group) - 1} more)" if len(group) > 1 else ""
        text = f"{group[0].place}: {group[0].message}{more}"
        yield _notification("note", ident, text.removeprefix(": "))


def _notification(level: str, ident: str, text: str) -> Object:
    return {"level": level, "descriptor": {"id": ident}, "message": {"text": printable(text)}}


def _artifacts(outline: Outline, root: str) -> list[Object]:
    """The files that were looked at, those that could not be read included."""
    named = [*outline.sources, *(item.source for item in outline.unreadable)]
    paths = dict.fromkeys(path_of(file_of(name), root) for name in named)
    return [{"location": artifact(path), "roles": ["analysisTarget"]} for path in paths if path]


def _properties(outline: Outline, options: FormOptions, left: int) -> Object:
    settings = setting_texts(outline.settings)
    return {
        "verdict": outline.verdict,
        "outcome": outline.outcome.value,
        "summary": one_line(outline.headline),
        "figures": figure_values(outline.figures, options.exact),
        "scope": [one_line(sentence) for sentence in outline.scope],
        "baseline": [one_line(line.strip()) for line in outline.against],
        "facts": [one_line(fact) for fact in outline.facts],
        "settings": {one_line(k): one_line(v) for k, v in settings.items()},
        "results_left_out": left,
    }
