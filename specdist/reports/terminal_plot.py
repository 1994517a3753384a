"""Pictures of characters: the three bars of a position, and a sweep."""

from __future__ import annotations

from specdist.model.report import PositionResult, Report, TokenLine
from specdist.model.sweep import SweepReport
from specdist.reports import layout
from specdist.reports.sweep_bars import bar, spark
from specdist.reports.sweep_forms import SweepOptions
from specdist.reports.sweep_measure import measure_of
from specdist.reports.sweep_text import setting_text

_MOST_TOKENS = 12
_NO_POSITION = "no picture: no position with whole rows\n"


def bars_plot(report: Report, width: int, blocks: bool) -> str:
    """Target, draft, and accepted + recovered of the first position, a line a token."""
    position = _first(report)
    if position is None:
        return _NO_POSITION
    tokens = sorted(position.tokens, key=lambda token: -token.reference.approx)[:_MOST_TOKENS]
    with_id = position.vocab_size > 64
    names = [layout.token(token.text, token.id, with_id) for token in tokens]
    label = max(map(layout.width_of, [*names, "token"]))
    room = max(8, (width - label - 8) // 3)
    head = [f"{'token':<{label}}", *(f"{name:<{room}}" for name in ("target", "draft"))]
    lines = ["  ".join([*head, "accepted + recovered"])]
    scale = max(max(token.reference.approx, token.drafted.approx) for token in tokens) or 1.0
    for name, token in zip(names, tokens, strict=True):
        cells = [f"{name}{' ' * (label - layout.width_of(name))}"]
        for value in (token.reference.approx, token.drafted.approx):
            cells.append(f"{bar(value / scale, room, blocks):<{room}}")
        cells.append(_stacked(token, scale, room, blocks))
        lines.append("  ".join(cells).rstrip())
    left = position.vocab_size - len(tokens)
    if left > 0:
        lines.append(f"... {left} more tokens")
    return "\n".join(["", *lines, ""])


def _first(report: Report) -> PositionResult | None:
    positions = (position for step in report.steps for position in step.positions)
    return next((position for position in positions if position.tokens), None)


def _stacked(token: TokenLine, scale: float, room: int, blocks: bool) -> str:
    """Accepted mass as a full bar, recovered mass behind it as a light one."""
    whole = token.accepted.approx + token.recovered.approx
    columns = round(whole / scale * room)
    accepted = round(token.accepted.approx / scale * room)
    full, light = ("█", "░") if blocks else ("#", "+")
    return full * accepted + light * (columns - accepted)


def sweep_plot(report: SweepReport, options: SweepOptions) -> str:
    """The measure of the sweep over its last axis: a line for every value of all axes before."""
    measure = measure_of(report)
    row = len(report.axes[-1].values)
    names = [setting_text(report, start) for start in range(0, len(report.points), row)]
    names = [", ".join(name.split(", ")[:-1]) for name in names]
    label = max(map(layout.width_of, names))
    room = max(16, options.width - label - 4)
    most = "1" if measure.is_rate else f"{measure.most:.6g}"
    lines = ["", f"{measure.name} from 0 to {most} over {report.axes[-1].name}"]
    for index, name in enumerate(names):
        start = index * row
        shown = spark([measure.share(start + i) for i in range(row)], options.blocks)
        parts = [shown[first : first + room] for first in range(0, row, room)]
        for number, part in enumerate(parts):
            before = name if not number else ""
            lines.append(f"  {before:<{label}}{'  ' if label else ''}{part}")
    ends = report.axes[-1].values
    return "\n".join([*lines, f"  from {ends[0]} to {ends[-1]}", ""])
