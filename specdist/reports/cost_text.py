"""Resource benefit as text and as JSON, apart from the verdict: figures that are calculated from
stated costs, that were measured, and that times without their conditions leave unmeasured."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Any

from specdist.model.cost import Basis, CostReport
from specdist.model.joint_report import CostLine
from specdist.model.report import Report
from specdist.reports import layout, page
from specdist.reports.json_numbers import Object, optional
from specdist.reports.view import View, plural

SCHEMA = "specdist.cost/1"
_STATED = (
    "nothing was verified or measured: these are figures of a model, for acceptances and costs as "
    "stated"
)
_STEPS = 3


def render(report: CostReport, view: View) -> str:
    """The report of stated acceptances, of at most 80 columns, ending in a line break."""
    if view.quiet:
        return "\n".join(_quiet(line, view) for line in report.lines) + "\n"
    return "\n".join([*lines(report.lines, view, ""), "", *layout.wrap(_STATED)]) + "\n"


def report_to_json(report: CostReport, exact: bool) -> Object:
    """``specdist.cost/1``."""
    return {
        "schema": SCHEMA,
        "specdist": report.version,
        "settings": dict(report.settings),
        "cost": to_json(report.lines, exact),
    }


def to_json(found: Sequence[CostLine], exact: bool) -> list[dict[str, Any]]:
    """Cost lines as JSON values; ``value`` is null where a line has no number."""
    return [
        {
            "name": line.name,
            "value": optional(line.value, exact),
            "text": line.text,
            "assumes": line.assumes,
            "basis": line.basis.value,
            "measured": line.measured,
        }
        for line in found
    ]


def of_steps(report: Report, view: View) -> list[str]:
    """The cost lines of checked steps: of the first few where there are many."""
    found = [step for step in report.steps if step.cost]
    shown = found if view.verbose else found[:_STEPS]
    said: list[str] = []
    for step in shown:
        of = "" if len(report.steps) == 1 else f" of step {step.id}"
        said += [line for text in _sections(step.cost, of, view) for line in ("", *text)]
    hidden = len(found) - len(shown)
    if hidden:
        said += ["", f"... benefit of {plural(hidden, 'more step')} (all with -v or --format json)"]
    return [*said, ""] if said else []


def _sections(found: Sequence[CostLine], of: str, view: View) -> Iterator[list[str]]:
    """A section for each basis, so that nothing calculated stands among what was measured."""
    for basis in (Basis.MEASURED, Basis.UNMEASURED, Basis.CALCULATED):
        group = [line for line in found if line.basis is basis]
        if group:
            yield [f"resource benefit{of}, {basis.value}", *lines(group, view, "  ")]


def lines(found: Sequence[CostLine], view: View, indent: str) -> list[str]:
    """Name, value and text of each line; below those that share an assumption, the assumption."""
    said: list[str] = []
    for assumes, grouped in groupby(found, key=lambda line: line.assumes):
        group = list(grouped)
        width = max(layout.width_of(line.name) for line in group)
        for line in group:
            said += _line(line, width, view, indent)
        said += layout.wrap(f"assumes: {assumes}", f"{indent}    ") if assumes else []
    return said


def _line(line: CostLine, width: int, view: View, indent: str) -> list[str]:
    first = f"{indent}{line.name}{' ' * (width - layout.width_of(line.name))}  "
    rest = " " * len(first)
    parts = _parts(line, view)
    if not parts:
        return [first.rstrip()]
    # A long exact value stays on one line, and the words go below it.
    joined = (" " if parts[-1].startswith(("of ", "tokens ")) else ", ").join(parts)
    if len(first) + len(joined) <= page.columns() or len(parts) == 1:
        return layout.wrap(joined, first, rest)
    return [first + parts[0], *layout.wrap(parts[1], rest, rest)]


def _parts(line: CostLine, view: View) -> list[str]:
    value = [] if line.value is None else [view.numerals.rate(line.value)]
    return value + ([line.text] if line.text else [])


def _quiet(line: CostLine, view: View) -> str:
    """A line a figure whatever its length."""
    return ": ".join([line.name, "; ".join([*_parts(line, view), *_assumed(line)])])


def _assumed(line: CostLine) -> Iterator[str]:
    if line.assumes:
        yield f"assumes {line.assumes}"
