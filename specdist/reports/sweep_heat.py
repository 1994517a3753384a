"""A sweep of two axes as a heat table: a number a setting, with a sign for its verdict."""

from __future__ import annotations

from specdist.exact.interval import Interval
from specdist.model.sweep import SweepReport
from specdist.model.verdict import Verdict
from specdist.reports import layout
from specdist.reports.sweep_bars import spark
from specdist.reports.sweep_forms import SweepOptions
from specdist.reports.sweep_measure import Measure, hundredths, measure_of

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
    measure = measure_of(report)
    labels = max(map(layout.width_of, (rows.name, *rows.values)))
    cells = [_cell(report, measure, i) for i in range(len(report.points))]
    cell = 2 + max(
        *map(layout.width_of, cells), *(layout.width_of(value) + 1 for value in columns.values)
    )
    fit = max(1, (options.width - labels - 2) // (cell + 1))
    lines: list[str] = []
    for start in range(0, len(columns.values), fit):
        shown = range(start, min(start + fit, len(columns.values)))
        lines += [""] if lines else []
        lines.append(f"{'':<{labels}}  {columns.name}")
        heads = "".join(f"{columns.values[j] + ' ':>{cell}}" for j in shown)
        lines.append(f"{rows.name:<{labels}}{heads}".rstrip())
        for i, label in enumerate(rows.values):
            at = [i * len(columns.values) + j for j in shown]
            numbers = "".join(f"{cells[index]:>{cell}}" for index in at)
            heights = spark([measure.share(index) for index in at], options.blocks)
            lines.append(f"{label:<{labels}}{numbers}  {heights}".rstrip())
    return [*lines, *_legend(report, measure, options)]


def _cell(report: SweepReport, measure: Measure, index: int) -> str:
    """``75 `` for an acceptance rate of 0.75 and more, ``1.75 `` for tokens or a factor."""
    number = measure.numbers[index]
    best = report.best is not None and report.best.index == index
    sign = "*" if best else SIGNS[report.points[index].verdict]
    if number is None:
        return f"-{sign}"
    whole = hundredths(number)
    return f"{whole if measure.is_rate else f'{whole // 100}.{whole % 100:02}'}{sign}"


def _legend(report: SweepReport, measure: Measure, options: SweepOptions) -> list[str]:
    met = [one.verdict for one in report.counts]
    signs = ["* best"] if report.best is not None else []
    signs += [text for verdict, text in _LEGEND.items() if verdict in met]
    text = f"{measure.name}{' in hundredths' if measure.is_rate else ''}, rounded down"
    if any(isinstance(number, Interval) for number in measure.numbers):
        text += ", the lower end of an interval"
    return ["", *layout.wrap("; ".join([text, *signs]), rest="  ", width=options.width)]
