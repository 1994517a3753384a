"""A sweep as JSON: ``specdist.sweep/1``."""

from __future__ import annotations

import json
from fractions import Fraction

from specdist.exact.interval import Interval
from specdist.model.figure import Figure
from specdist.model.sweep import Axis, SweepPoint, SweepReport
from specdist.reports.cost_text import to_json as cost_to_json
from specdist.reports.json_bounded import figure_or_interval, interval
from specdist.reports.json_numbers import Object, number, optional
from specdist.reports.sweep_floor_text import to_json as floor_to_json
from specdist.reports.sweep_forms import SweepOptions

SCHEMA = "specdist.sweep/1"


def render(report: SweepReport, options: SweepOptions) -> str:
    """Indented JSON with a line break at its end."""
    return json.dumps(to_json(report, options.exact), indent=2) + "\n"


def to_json(report: SweepReport, exact: bool = False) -> Object:
    """The sweep as JSON values; ``exact`` spells out fractions of any length."""
    best = report.best
    return {
        "schema": SCHEMA,
        "specdist": report.version,
        "settings": dict(report.settings),
        "sources": list(report.sources),
        "axes": [_axis(axis) for axis in report.axes],
        "counts": [
            {"verdict": one.verdict.value, "settings": one.settings, "first": one.first}
            for one in report.counts
        ],
        "best": None
        if best is None
        else {
            "point": best.index,
            "by": best.by,
            "equals": list(best.equals),
            "settled": best.settled,
        },
        "floor": None if report.floor is None else floor_to_json(report.floor, exact),
        "points": [_point(report.axes, point, exact) for point in report.points],
        "assumes": list(report.assumes),
        "read_as": list(report.read_as),
        "unreadable": [
            {"source": item.source, "message": item.message} for item in report.unreadable
        ],
        "not_captures": list(report.not_captures),
        "reproduce": report.reproduce or None,
        "scope": list(report.scope),
    }


def _axis(axis: Axis) -> Object:
    return {
        "option": axis.name,
        "values": list(axis.values),
        "numbers": None if axis.numbers is None else [_exact(value) for value in axis.numbers],
    }


def _point(axes: tuple[Axis, ...], point: SweepPoint, exact: bool) -> Object:
    summary, worth = point.summary, point.worth
    return {
        "setting": {axis.name: value for axis, value in zip(axes, point.values, strict=True)},
        "verdict": point.verdict.value,
        "steps": summary.steps,
        "positions": summary.positions,
        "equal": summary.equal,
        "within_tolerance": summary.within_tolerance,
        "different": summary.different,
        "undecided": summary.undecided,
        "acceptance_rate": figure_or_interval(
            summary.acceptance_rate, summary.acceptance_bounds, exact
        ),
        "total_variation_max": figure_or_interval(
            summary.total_variation_max, summary.variation_bounds, exact
        ),
        "expected_tokens": _either(worth.expected_tokens, exact),
        "walltime_factor": optional(worth.walltime_factor, exact),
        "best_draft_length": worth.best_draft_length,
        "floor_missed": point.floor_missed,
        "findings": list(point.findings),
        "cost": cost_to_json(worth.cost, exact),
    }


def _either(value: Figure | Interval | None, exact: bool) -> Object | None:
    if isinstance(value, Interval):
        return interval(value, exact)
    return optional(value, exact)


def _exact(value: Fraction) -> Object:
    return number(Figure.of(value), exact=True)
