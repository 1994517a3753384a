"""GitLab's code quality report: a JSON array of issues, as its documentation describes it
(docs.gitlab.com/ci/testing/code_quality, "Code quality report format").

A merge request shows what is new against its target branch, which it tells by ``fingerprint``;
``location.path`` is relative to the repository without ``./`` in front. The members are those of
the Code Climate format, which GitLab took over and which wants the ``end`` of lines too. Steps
that are equal, and notes, are no issues. A run that checked nothing is one.
"""

from __future__ import annotations

import json

from specdist.reports.forms.clean_text import one_line
from specdist.reports.forms.entries import Entry, Weight, entries
from specdist.reports.forms.fingerprints import Fingerprints
from specdist.reports.forms.form import AnyReport, FormOptions
from specdist.reports.forms.places import Where, where_of
from specdist.reports.json_numbers import Object
from specdist.reports.outlines import outline_of

SEVERITIES = {
    Weight.BROKEN: "blocker",
    Weight.FAILS: "critical",
    Weight.OPEN: "major",
    Weight.WARNING: "minor",
    Weight.TOLERATED: "info",
    Weight.ALLOWED: "info",
    Weight.NOTE: "info",
}


def render(report: AnyReport, options: FormOptions) -> str:
    """The array, an issue each, the worst first."""
    outline = outline_of(report, options)
    prints = Fingerprints()
    first = where_of(outline.sources[0], "", options.root) if outline.sources else Where("")
    issues = []
    for entry in entries(outline):
        if entry.weight is Weight.NOTE:
            continue
        where = where_of(entry.source, entry.place, options.root)
        issues.append(_issue(entry, where if where.path else first, prints))
    return json.dumps(issues, indent=2) + "\n"


def _issue(entry: Entry, where: Where, prints: Fingerprints) -> Object:
    """One issue. Rows that were typed have no file; the report needs a path all the same."""
    path = one_line(where.path or entry.source or "specdist")
    place = entry.place.removeprefix(f"{entry.source}, ")
    said = f"{place}: {entry.message}" if entry.case and place else entry.message
    word = {Weight.ALLOWED: " (allowed)", Weight.TOLERATED: " (tolerated)"}.get(entry.weight, "")
    line = where.line or 1
    return {
        "description": one_line(said) + word,
        "check_name": entry.ident,
        "fingerprint": prints.of(entry, path),
        "severity": SEVERITIES[entry.weight],
        "location": {"path": path, "lines": {"begin": line, "end": line}},
    }
