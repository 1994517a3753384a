"""A sweep as text: a row a setting with a bar, or a heat table of two axes; then what follows."""

from __future__ import annotations

from collections.abc import Iterator

from specdist.exact.interval import Interval
from specdist.model.figure import Figure
from specdist.model.sweep import SweepPoint, SweepReport
from specdist.model.verdict import Verdict
from specdist.reports import interval_text, layout
from specdist.reports.figure_text import Numerals
from specdist.reports.scope_text import scope_sentence
from specdist.reports.sweep_bars import bar
from specdist.reports.sweep_floor_text import floor_lines
from specdist.reports.sweep_forms import SweepOptions
from specdist.reports.sweep_heat import heat_lines
from specdist.reports.sweep_measure import measure_of, rate_of, variation_of
from specdist.reports.view import plural

MOST_ROWS = 100
"""Settings that a table lists without ``-v``: the first of them."""
_LEAST_BAR, _MOST_BAR = 8, 40


def render(report: SweepReport, options: SweepOptions) -> str:
    """What a terminal of that width shows, ending in a line break."""
    lines: list[str] = []
    if not options.quiet:
        lines += [*_head(report, options), ""]
        heat = len(report.axes) == 2 and all(len(axis.values) > 1 for axis in report.axes)
        lines += heat_lines(report, options) if heat else _table(report, options)
        lines.append("")
    lines += _counts(report, options)
    lines += _best(report, options)
    if report.floor is not None:
        numerals = Numerals(options.exact)
        lines += floor_lines(report.floor, report.axes[0].name, numerals, options.width)
    if not options.quiet:
        lines += _rest(report, options)
    return "\n".join(lines) + "\n"


def setting_text(report: SweepReport, index: int) -> str:
    """``temperature 0.5, top-p 0.9``."""
    pairs = zip(report.axes, report.points[index].values, strict=True)
    return ", ".join(f"{axis.name} {value}" for axis, value in pairs)


def number_text(value: Figure | Interval | None, options: SweepOptions) -> str:
    """A number of a table; a dash where it is not known."""
    if value is None:
        return "-"
    numerals = Numerals(options.exact)
    if isinstance(value, Interval):
        return interval_text.cell(value, numerals, 4)
    return numerals.number(value)


def _head(report: SweepReport, options: SweepOptions) -> list[str]:
    summary = report.points[0].summary
    held = plural(summary.steps, "step")
    if all(point.summary.positions == summary.positions for point in report.points):
        held += f", {plural(summary.positions, 'draft token')}"
    sources = ", ".join(report.sources[:3]) + (", ..." if len(report.sources) > 3 else "")
    text = f"{sources}  {held}; {plural(len(report.points), 'setting')}"
    return layout.wrap(text, rest="  ", width=options.width)


def _table(report: SweepReport, options: SweepOptions) -> list[str]:
    measure = measure_of(report)
    points = report.points if options.verbose else report.points[:MOST_ROWS]
    factors = any(point.worth.walltime_factor is not None for point in report.points)
    lengths = any(point.worth.best_draft_length is not None for point in report.points)
    names = [axis.name for axis in report.axes]
    header = ["", *names, "verdict", "acceptance", "variation", "tokens"]
    header += ["factor"] if factors else []
    header += ["best length"] if lengths else []
    best = None if report.best is None else report.best.index
    rows = [_row(i, point, best, factors, lengths, options) for i, point in enumerate(points)]
    bare = layout.table(header, rows, left=1)
    room = min(options.width - max(map(layout.width_of, bare)) - 2, _MOST_BAR)
    if room >= _LEAST_BAR:
        width = max(map(layout.width_of, bare))
        shown = [bar(measure.share(i), room, options.blocks) for i in range(len(points))]
        pairs = zip(bare, ["" if measure.is_rate else measure.short, *shown], strict=True)
        bare = [f"{line:<{width}}  {drawn}".rstrip() for line, drawn in pairs]
    if len(points) < len(report.points):
        left = plural(len(report.points) - len(points), "more setting")
        bare.append(f"... {left} (all with -v, --format csv or json)")
    return bare


def _row(
    index: int,
    point: SweepPoint,
    best: int | None,
    factors: bool,
    lengths: bool,
    options: SweepOptions,
) -> list[str]:
    worth = point.worth
    row = ["*" if index == best else "", *point.values, point.verdict.value]
    row += [number_text(value, options) for value in (rate_of(point), variation_of(point))]
    row.append(number_text(worth.expected_tokens, options))
    row += [number_text(worth.walltime_factor, options)] if factors else []
    length = worth.best_draft_length
    return row + ([("-" if length is None else str(length))] if lengths else [])


def _counts(report: SweepReport, options: SweepOptions) -> list[str]:
    parts = [f"{one.settings} {one.verdict.value}" for one in report.counts]
    lines = layout.wrap(
        f"{plural(len(report.points), 'setting')} checked: {', '.join(parts)}",
        rest="  ",
        width=options.width,
    )
    for one in report.counts:
        if one.settings == len(report.points):
            continue
        idents = report.points[one.first].findings
        found = f" ({', '.join(idents)})" if idents else ""
        text = f"first {one.verdict.value}: {setting_text(report, one.first)}{found}"
        lines += layout.wrap(text, "  ", "    ", options.width)
    return lines


def _best(report: SweepReport, options: SweepOptions) -> list[str]:
    best = report.best
    if best is None:
        right = any(
            one.verdict in (Verdict.EQUAL, Verdict.WITHIN_TOLERANCE) for one in report.counts
        )
        text = "no setting is best: " + (
            "its numbers are not known"
            if right
            else "none is known to have the output law of the target"
        )
        return layout.wrap(text, rest="  ", width=options.width)
    point = report.points[best.index]
    values = {
        "walltime factor": point.worth.walltime_factor,
        "expected tokens": point.worth.expected_tokens,
        "acceptance rate": rate_of(point),
    }
    text = f"* best: {setting_text(report, best.index)}; {best.by} "
    text += number_text(values[best.by], options)
    text += ", not measured" if best.by == "walltime factor" else ""
    if best.equals:
        others = plural(len(best.equals), "other setting")
        text += f", as {others}" if best.settled else f", within rounding of {others}"
    return layout.wrap(text, rest="  ", width=options.width)


def _rest(report: SweepReport, options: SweepOptions) -> Iterator[str]:
    for text in report.read_as:
        yield from layout.wrap(text, rest="  ", width=options.width)
    for item in report.unreadable:
        yield from layout.wrap(
            f"error[{item.ident}]: {item.place or item.source}: {item.message}", rest="  ",
            width=options.width,
        )  # fmt: skip
    for text in report.assumes:
        yield from layout.wrap(f"assumes: {text}", rest="  ", width=options.width)
    if report.reproduce:
        yield "reproduce the first different setting:"
        yield from layout.command(report.reproduce, "  ", options.width)
    yield ""
    yield from layout.wrap(
        f"every setting is a full check; {scope_sentence(report.scope)}",
        rest="  ",
        width=options.width,
    )
