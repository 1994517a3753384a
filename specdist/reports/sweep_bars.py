"""Bars and shades of a terminal: the length of a number from 0 to 1. They repeat what the numbers
beside them say."""

from __future__ import annotations

from fractions import Fraction

_EIGHTHS = " ▏▎▍▌▋▊▉█"
_LEVELS = "▁▂▃▄▅▆▇█"
_PLAIN_LEVELS = "_.:-=+*#"


def bar(value: float | None, width: int, blocks: bool = True) -> str:
    """A bar of at most ``width`` columns; a number above 0 is never an empty one."""
    if value is None:
        return ""
    eighths = min(width * 8, max(0, round(Fraction(value) * width * 8)))
    if not blocks:
        return "#" * (max(1, eighths // 8) if value > 0 else 0)
    full, rest = divmod(max(1, eighths) if value > 0 else 0, 8)
    return "█" * full + (_EIGHTHS[rest] if rest else "")


def spark(values: list[float | None], blocks: bool = True) -> str:
    """A character a number, of eight heights from 0 to 1; a blank where one is not known."""
    levels = _LEVELS if blocks else _PLAIN_LEVELS
    return "".join(
        " " if value is None else levels[min(7, max(0, int(value * 8)))] for value in values
    )
