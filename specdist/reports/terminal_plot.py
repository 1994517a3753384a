"""Pictures of characters: the three bars of a position, and the acceptance rates of a sweep."""

from __future__ import annotations

from specdist.model.report import PositionResult, Report, TokenLine
from specdist.model.sweep import SweepReport
from specdist.reports import layout
from specdist.reports.sweep_bars import bar, share, spark
from specdist.reports.sweep_forms import SweepOptions
from specdist.reports.sweep_text import rate_of, setting_text

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
    """The acceptance rate from 0 to 1 over the settings: a line for every value of all axes but
    the last."""
    row = len(report.axes[-1].values)
    lines = ["", f"acceptance rate from 0 to 1 over {report.axes[-1].name}"]
    for start in range(0, len(report.points), row):
        points = report.points[start : start + row]
        shown = spark([share(rate_of(point)) for point in points], options.blocks)
        parts = setting_text(report, start).split(", ")[:-1]
        before = f"{', '.join(parts)}  " if parts else ""
        for first in range(0, row, options.width - 4):
            lines.append(
                f"  {before if not first else ''}{shown[first : first + options.width - 4]}"
            )
    ends = report.axes[-1].values
    return "\n".join([*lines, f"  from {ends[0]} to {ends[-1]}", ""])
