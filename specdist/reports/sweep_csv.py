"""A sweep as CSV by RFC 4180: a row a setting. Numbers are written as in the CSV of a report."""

from __future__ import annotations

import csv
import io

from specdist.exact.interval import Interval
from specdist.model.figure import Figure
from specdist.model.sweep import SweepPoint, SweepReport
from specdist.reports.forms.csv_form import figure_cells, safe_text
from specdist.reports.sweep_forms import SweepOptions

_NUMBERS = ("acceptance_rate", "total_variation_max", "expected_tokens", "walltime_factor")
_FORMS = ("", "_exact", "_bound", "_least", "_most")
_COUNTS = ("steps", "positions", "equal", "within_tolerance", "different", "undecided")


def header(report: SweepReport) -> list[str]:
    """The names of the columns: the axes first."""
    names = [axis.name for axis in report.axes]
    numbers = [name + form for name in _NUMBERS for form in _FORMS]
    last = ["best_draft_length", "best", "floor_missed", "findings"]
    return [*names, "verdict", *_COUNTS, *numbers, *last]


def render(report: SweepReport, options: SweepOptions) -> str:
    """The table with its header."""
    written = io.StringIO()
    rows = csv.writer(written, lineterminator="\r\n")
    rows.writerow(header(report))
    best = None if report.best is None else report.best.index
    for index, point in enumerate(report.points):
        rows.writerow(_row(point, index == best, options.exact))
    return written.getvalue()


def _row(point: SweepPoint, best: bool, exact: bool) -> list[str]:
    summary, worth = point.summary, point.worth
    figures: tuple[Figure | Interval | None, ...] = (
        summary.acceptance_bounds or summary.acceptance_rate,
        summary.variation_bounds or summary.total_variation_max,
        worth.expected_tokens,
        worth.walltime_factor,
    )
    length = worth.best_draft_length
    return [
        *(_value(value) for value in point.values),
        point.verdict.value,
        *(str(getattr(summary, name)) for name in _COUNTS),
        *(cell for figure in figures for cell in figure_cells(figure, exact)),
        "" if length is None else str(length),
        "yes" if best else "no",
        "yes" if point.floor_missed else "no",
        " ".join(point.findings),
    ]


def _value(text: str) -> str:
    """The value of an axis; a negative number stays one."""
    try:
        float(text)
    except ValueError:
        return safe_text(text)
    return text
