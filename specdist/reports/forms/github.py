"""Annotations of GitHub Actions, as workflow commands on standard output.

``::error file=F,line=N,title=T::MESSAGE``; the escapes are those of GitHub's own toolkit
(actions/toolkit, packages/core/src/command.ts): ``%``, CR and LF in a message, ``:`` and ``,`` in a
property too. Nothing of a capture starts a line, so none can speak to the runner.

A step of a job shows at most 10 errors, 10 warnings and 10 notices, and silently drops the rest;
a message may have 4 KB. So the worst are printed, and where some are left out the last one says how
many. Equal steps say nothing; the last line of the run is a notice.
"""

from __future__ import annotations

from collections.abc import Sequence

from specdist.model.outcome import Outcome
from specdist.reports.forms.clean_text import cut, one_line, printable
from specdist.reports.forms.entries import Entry, Weight, entries
from specdist.reports.forms.form import AnyReport, FormOptions
from specdist.reports.forms.places import where_of
from specdist.reports.outline import Outline
from specdist.reports.outlines import outline_of
from specdist.reports.view import plural

MOST = 10
LONGEST = 4000

LEVELS = {
    Weight.BROKEN: "error",
    Weight.FAILS: "error",
    Weight.OPEN: "warning",
    Weight.WARNING: "warning",
    Weight.TOLERATED: "notice",
    Weight.ALLOWED: "notice",
    Weight.NOTE: "",
}


def render(report: AnyReport, options: FormOptions) -> str:
    """A command a line: errors, warnings, then notices."""
    outline = outline_of(report, options)
    found: dict[str, list[Entry]] = {"error": [], "warning": [], "notice": []}
    for entry in entries(outline):
        if LEVELS[entry.weight]:
            found[LEVELS[entry.weight]].append(entry)
    lines = []
    for level, told in found.items():
        lines += _level(level, told, MOST - (level == "notice"), options)
    said = any(entry.message == outline.headline for entry in (*found["error"], *found["warning"]))
    if not said:
        lines.append(command("notice", {"title": _title(outline)}, outline.headline))
    return "".join(f"{line}\n" for line in lines)


def _title(outline: Outline) -> str:
    """A pass says of what kind: equal, or within tolerance."""
    passed = outline.outcome is Outcome.PASSED
    return f"specdist: {outline.verdict if passed else outline.outcome.value}"


def _level(level: str, told: Sequence[Entry], most: int, options: FormOptions) -> list[str]:
    """The annotations of one level; beyond ``most`` the last one counts those that are left out."""
    if len(told) <= most:
        return [_annotation(level, entry, options) for entry in told]
    lines = [_annotation(level, entry, options) for entry in told[: most - 1]]
    left = plural(len(told) - (most - 1), f"more {level}")
    text = f"{left} left out: GitHub shows {MOST} of a step; the job summary and --export have more"
    return [*lines, command(level, {"title": f"specdist: {left}"}, text)]


def _annotation(level: str, entry: Entry, options: FormOptions) -> str:
    where = where_of(entry.source, entry.place, options.root)
    word = {Weight.ALLOWED: "allowed ", Weight.TOLERATED: "tolerated "}.get(entry.weight, "")
    properties = {
        "file": where.path,
        "line": "" if where.line is None else str(where.line),
        "title": f"specdist: {word}{entry.ident}",
    }
    return command(level, properties, entry.lesson)


def command(level: str, properties: dict[str, str], message: str) -> str:
    """``::LEVEL NAME=VALUE,...::MESSAGE``, without properties that are empty."""
    given = ",".join(f"{name}={_property(value)}" for name, value in properties.items() if value)
    return f"::{level} {given}::{_data(cut(printable(message), LONGEST))}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(one_line(text)).replace(":", "%3A").replace(",", "%2C")
