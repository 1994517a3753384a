"""Acceptance counters as text: every figure with its definition."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction

from specdist.model.counters import CounterComparison, CounterFigure, CounterReport, Counters, Rate
from specdist.reports import layout
from specdist.reports.figure_text import fraction

_BY_POSITION = (Rate.UNCONDITIONAL, Rate.CONDITIONAL)


def lines(report: CounterReport) -> list[str]:
    """The counters of one source: counts, rates with their definitions, what the capture says."""
    counters = report.counters
    found = layout.wrap(f"counters: {counters.title}, {counters.source}", "", "  ")
    if counters.label:
        found += layout.wrap(f"labels {counters.label}", "  ")
    found += _counts(counters)
    found += _rates(report.figures)
    for item in counters.reported if counters.interval_only else ():
        stated = ", ".join(_number(value) for value in item.values)
        found += layout.wrap(f"{stated}  {item.name}: {item.rate.value}", "  ", "      ")
    for compared in report.comparisons:
        found += _comparison(compared)
    for note in counters.notes:
        found += layout.wrap(f"note: {note}", "  ", "      ")
    return found


def counter_facts(report: CounterReport) -> list[tuple[str, str]]:
    """The counters as pairs of names and texts."""
    counters = report.counters
    stated = counters.reported if counters.interval_only else ()
    return [
        ("reader", counters.reader),
        ("counters", counters.title + (f" ({counters.label})" if counters.label else "")),
        *(("counted", line.strip()) for line in _counts(counters)),
        *((_number(figure.value), _definition(figure)) for figure in report.figures),
        *((_number(value), item.rate.value) for item in stated for value in item.values),
        *(("note", note) for note in counters.notes),
    ]


def _definition(figure: CounterFigure) -> str:
    return figure.rate.value + ("" if figure.position is None else f", i = {figure.position}")


def _counts(counters: Counters) -> list[str]:
    known = (
        ("steps", counters.steps),
        ("draft tokens", counters.draft_tokens),
        ("accepted", counters.accepted),
        ("written tokens", counters.written),
        ("draft length", counters.draft_length),
    )
    text = ", ".join(f"{value} {name}" for name, value in known if value is not None)
    return layout.wrap(text, "  ") if text else []


def _rates(figures: Iterable[CounterFigure]) -> list[str]:
    found: list[str] = []
    by_position: dict[Rate, list[str]] = {}
    for figure in figures:
        if figure.rate in _BY_POSITION:
            by_position.setdefault(figure.rate, []).append(_number(figure.value))
        else:
            found += layout.wrap(
                f"{_number(figure.value):<16}  {figure.rate.value}", "  ", " " * 20
            )
    for rate, values in by_position.items():
        found += layout.wrap(f"{', '.join(values)}  at i = 0, 1, ...: {rate.value}", "  ", "      ")
    return found


def _comparison(item: CounterComparison) -> list[str]:
    relation = "above" if item.above else "below"
    text = (
        f"capture: {_number(item.expected)} expected, at most {_number(item.possible)} without loss"
        f"; counted {_number(item.counted)}"
    )
    if item.tail < 1:
        text += f", as far {relation} with chance {item.tail:.3g} at most"
    return layout.wrap(text, "  ", "      ")


def _number(value: Fraction) -> str:
    if value.denominator == 1:
        return str(value)
    if value.denominator < 10_000:
        return f"{fraction(value)} = {float(value):.4f}"
    return f"{float(value):.6g}"
