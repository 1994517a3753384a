"""A sweep of two axes as a heat table: acceptance in hundredths, with a sign for the verdict."""

from __future__ import annotations

from collections.abc import Iterator

from specdist.exact.interval import Interval
from specdist.model.figure import Figure
from specdist.model.sweep import SweepPoint, SweepReport
from specdist.model.verdict import Verdict
from specdist.reports import layout
from specdist.reports.sweep_bars import share, spark
from specdist.reports.sweep_forms import SweepOptions

SIGNS = {
    Verdict.EQUAL: " ",
    Verdict.WITHIN_TOLERANCE: "~",
    Verdict.DIFFERENT: "!",
    Verdict.UNDECIDED: "?",
    Verdict.NOTHING_CHECKED: "0",
}
_LEGEND = {
    Verdict.WITHIN_TOLERANCE: "~ within tolerance",
    Verdict.DIFFERENT: "! different",
    Verdict.UNDECIDED: "? undecided",
    Verdict.NOTHING_CHECKED: "0 nothing checked",
}


def heat_lines(report: SweepReport, options: SweepOptions) -> list[str]:
    """Rows by the first axis, columns by the second, as many blocks of columns as the width needs;
    behind each row its sparkline. A legend says what is shown."""
    rows, columns = report.axes
    labels = max(map(layout.width_of, (rows.name, *rows.values)))
    cell = max(5, *(layout.width_of(value) + 2 for value in columns.values))
    fit = max(1, (options.width - labels - 2) // (cell + 1))
    lines: list[str] = []
    for start in range(0, len(columns.values), fit):
        if lines:
            lines.append("")
        lines += _block(report, range(start, min(start + fit, len(columns.values))), labels, cell,
                        options)  # fmt: skip
    return [*lines, *_legend(report, options)]


def _block(
    report: SweepReport, shown: range, labels: int, cell: int, options: SweepOptions
) -> Iterator[str]:
    rows, columns = report.axes
    yield f"{'':<{labels}}  {columns.name}"
    yield (
        f"{rows.name:<{labels}}"
        + "".join(f"{columns.values[j]:>{cell - 1}} " for j in shown).rstrip()
    )
    for i, label in enumerate(rows.values):
        points = [report.points[i * len(columns.values) + j] for j in shown]
        cells = "".join(f"{_cell(point):>{cell}}" for point in points)
        rates = [share(_rate(point)) for point in points]
        yield f"{label:<{labels}}{cells}  {spark(rates, options.blocks)}".rstrip()


def _cell(point: SweepPoint) -> str:
    """``75 `` for an acceptance of 0.75 and more; never rounded up to 100."""
    value = share(_rate(point))
    return ("-" if value is None else str(int(value * 100 + 1e-9))) + SIGNS[point.verdict]


def _rate(point: SweepPoint) -> Figure | Interval | None:
    return point.summary.acceptance_bounds or point.summary.acceptance_rate


def _legend(report: SweepReport, options: SweepOptions) -> list[str]:
    met = [one.verdict for one in report.counts]
    signs = [text for verdict, text in _LEGEND.items() if verdict in met]
    text = "acceptance rate in hundredths, rounded down"
    if any(point.summary.acceptance_bounds is not None for point in report.points):
        text += ", the lower end of an interval"
    return ["", *layout.wrap("; ".join([text, *signs]), rest="  ", width=options.width)]
