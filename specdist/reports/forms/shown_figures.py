"""Figures and settings of an outline as texts and as JSON values."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from specdist.exact.interval import Interval
from specdist.model.figure import Figure
from specdist.reports import interval_text
from specdist.reports.figure_text import Numerals
from specdist.reports.json_bounded import interval
from specdist.reports.json_numbers import Object, number
from specdist.reports.json_report import plain

Named = Iterable[tuple[str, Figure | Interval]]


def text_of(figure: Figure | Interval, exact: bool) -> str:
    """``169/240 = 0.7042``, or an interval."""
    numerals = Numerals(exact)
    if isinstance(figure, Interval):
        return interval_text.rate(figure, numerals)
    return numerals.rate(figure)


def figure_texts(figures: Named, exact: bool) -> list[tuple[str, str]]:
    """Each figure as text, under its name."""
    return [(name, text_of(figure, exact)) for name, figure in figures]


def figure_values(figures: Named, exact: bool) -> Object:
    """Each figure as in the JSON report, under its name with underscores."""
    return {
        name.replace(" ", "_"): interval(figure, exact)
        if isinstance(figure, Interval)
        else number(figure, exact)
        for name, figure in figures
    }


def setting_texts(settings: Mapping[str, object]) -> dict[str, str]:
    """Each setting as text; of several values a list with commas."""
    found = {}
    for name, value in settings.items():
        shown = plain(value)
        several = isinstance(shown, list)
        found[str(name)] = ", ".join(map(str, shown)) if several else str(shown)
    return found
