"""Words and short numbers that the findings of a replay share."""

from __future__ import annotations

from fractions import Fraction

from specdist.exact.interval import Interval
from specdist.model.trace import Conventions


def decimal(value: Fraction) -> str:
    """Six significant digits, a short fraction of a power of two as it is; never rounded onto 0 or
    1."""
    if value.denominator <= 4096 and value.denominator & (value.denominator - 1) == 0:
        return str(value)
    text = f"{float(value):.6g}"
    rounded = Fraction(text)
    if rounded in (0, 1) and rounded != value:
        return f"{float(value):.17g}" if value < 1 else f"1 + {float(value - 1):.2g}"
    return text


def interval_words(found: Interval) -> str:
    """``0.321``, or ``0.32 to 0.35`` where the digits differ."""
    low, high = decimal(found.least), decimal(found.most)
    return low if low == high else f"{low} to {high}"


def threshold_words(chance: Interval, conventions: Conventions) -> str:
    """When a token is accepted."""
    if chance.most == 0:
        return "never accepted" if conventions.strict else "accepted at u = 0 only"
    if chance.least >= 1:
        return "always accepted"
    below = "below" if conventions.strict else "up to"
    return f"accepted {below} {interval_words(chance)}"


def counted(count: int, total: int, noun: str) -> str:
    """``3 of 25 accept decisions``."""
    return f"{count} of {total} {noun}{'' if total == 1 else 's'}"


def plural(count: int, noun: str) -> str:
    """``1 step``, ``2 steps``."""
    return f"{count} {noun}{'' if count == 1 else 's'}"
