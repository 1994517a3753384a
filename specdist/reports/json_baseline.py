"""The comparison with a baseline as JSON values."""

from __future__ import annotations

from typing import Any

from specdist.exact.interval import Interval
from specdist.model.baseline import BaselineReport, StepChange
from specdist.model.figure import Figure
from specdist.reports.json_bounded import interval
from specdist.reports.json_numbers import Object, number


def baseline_to_json(report: BaselineReport | None, exact: bool) -> Object | None:
    """The member ``baseline`` of a report: null of a run without one."""
    if report is None:
        return None
    return {
        "path": report.path,
        "specdist": report.version,
        "matched": report.matched,
        "worse": [_change(step, exact) for step in report.worse],
        "undecided": [_change(step, exact) for step in report.undecided],
        "better": [_change(step, exact) for step in report.better],
        "missing": [{"id": ident, "source": source} for source, ident in report.missing],
        "new": report.new,
        "acceptance_rate": {
            "before": _value(report.acceptance_before, exact),
            "after": _value(report.acceptance_after, exact),
        },
        "notes": list(report.notes),
    }


def _change(step: StepChange, exact: bool) -> Object:
    return {
        "id": step.id,
        "source": step.source,
        "reasons": [
            {
                "what": reason.what.value,
                "position": reason.position,
                "before": _value(reason.before, exact),
                "after": _value(reason.after, exact),
                "message": reason.message,
            }
            for reason in step.reasons
        ],
    }


def _value(value: Figure | Interval | str | None, exact: bool) -> Any:
    if isinstance(value, Figure):
        return number(value, exact)
    return interval(value, exact) if isinstance(value, Interval) else value
