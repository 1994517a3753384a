"""Acceptance counters as JSON values."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from specdist.model.counters import CounterComparison, CounterReport
from specdist.model.figure import Figure
from specdist.reports.json_numbers import Object, number

_COUNTS = ("steps", "draft_tokens", "accepted", "written", "draft_length")
_LISTS = ("accepted_at", "histogram", "step_accepted", "step_drafted")


def counters_to_json(report: CounterReport, exact: bool) -> Object:
    """The counters of one source: counts, figures with their definitions, comparisons."""
    counters = report.counters
    shown: dict[str, Any] = {
        "source": counters.source,
        "reader": counters.reader,
        "title": counters.title,
        "label": counters.label,
        "interval_only": counters.interval_only,
    }
    shown |= {name: getattr(counters, name) for name in _COUNTS}
    shown |= {name: _list(getattr(counters, name)) for name in _LISTS}
    shown["figures"] = [
        {
            "definition": figure.rate.value,
            "position": figure.position,
            "value": _number(figure.value, exact),
        }
        for figure in report.figures
    ]
    shown["reported"] = [
        {
            "name": item.name,
            "definition": item.rate.value,
            "values": [_number(value, exact) for value in item.values],
        }
        for item in counters.reported
    ]
    shown["comparisons"] = [_comparison(item, exact) for item in report.comparisons]
    shown["notes"] = list(counters.notes)
    return shown


def _comparison(item: CounterComparison, exact: bool) -> Object:
    return {
        "definition": item.rate.value,
        "counted": _number(item.counted, exact),
        "trials": item.trials,
        "expected": _number(item.expected, exact),
        "possible": _number(item.possible, exact),
        "above": item.above,
        "tail": item.tail,
        "refuted": item.refuted,
    }


def _list(values: tuple[int, ...] | None) -> list[int] | None:
    return None if values is None else list(values)


def _number(value: Fraction, exact: bool) -> Object:
    return number(Figure.of(value), exact)
