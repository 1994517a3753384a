"""A change of side between two values, narrowed to a digit of the value.

Values are tried on a decimal grid, so that the ends of the answer are short. Where to try next is
guessed by the Illinois variant of false position (M. Dowell and P. Jarratt, BIT 11, 1971), with
plain halving whenever two guesses did not halve the bracket: no claim depends on the guesses, only
on the proven side at each value tried.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import NamedTuple

from specdist.model.sweep_crossing import Side
from specdist.verify.sweep.probe import Probe

DIGITS = 10
_SHORT_DENOMINATOR = 1_000


class Narrowed(NamedTuple):
    """Values with proven, different sides; ``rounding``: no value between them has a proven side
    that would bring them as close as asked. ``equal`` is a value whose rate is the floor."""

    low: Fraction
    high: Fraction
    rounding: bool = False
    equal: Fraction | None = None


def narrowed(probe: Probe, low: Fraction, high: Fraction, digits: int = DIGITS) -> Narrowed:
    """The change of side between ``low`` and ``high``, to a unit in the last of ``digits``
    significant digits of the larger. Both sides must be proven and different."""
    start, end = probe.side(low), probe.side(high)
    if Side.OPEN in (start, end) or start is end:
        raise ValueError(f"sides {start} and {end} are no change")
    unit = last_digit(max(abs(low), abs(high)), digits)
    low, inner = _edge(probe, low, high, lambda side: side is start, unit)
    if probe.side(inner) is Side.OPEN:
        inner, high = _edge(probe, inner, high, lambda side: side is not end, unit)
        low = inner if probe.side(inner) is start else low
    else:
        high = inner
    rounding = high - low > unit
    return Narrowed(low, high, rounding, None if rounding else _equal(probe, low, high))


def last_digit(size: Fraction, digits: int) -> Fraction:
    """The unit in the last of that many significant digits of a number of this size."""
    unit = Fraction(1)
    while unit > size > 0:
        unit /= 10
    while unit * 10 <= size:
        unit *= 10
    return unit / Fraction(10) ** (digits - 1)


def _edge(
    probe: Probe,
    low: Fraction,
    high: Fraction,
    holds: Callable[[Side], bool],
    unit: Fraction,
) -> tuple[Fraction, Fraction]:
    """Neighbours on the grid of ``unit`` (or an end), the side holding at the first only."""
    weight_low = weight_high = Fraction(1)
    moved = ""
    slow = 0
    while (inside := _grid_between(low, high, unit)) is not None:
        width = high - low
        value = low + width / 2
        if slow < 2:
            rates = probe.excess(low) * weight_low, probe.excess(high) * weight_high
            value = _guess(low, high, *rates)
        value = min(max(_on_grid(value, unit), inside[0]), inside[1])
        if holds(probe.side(value)):
            weight_low, weight_high = Fraction(1), weight_high / (2 if moved == "low" else 1)
            low, moved = value, "low"
        else:
            weight_high, weight_low = Fraction(1), weight_low / (2 if moved == "high" else 1)
            high, moved = value, "high"
        slow = 0 if 2 * (high - low) <= width or slow >= 2 else slow + 1
    return low, high


def _guess(low: Fraction, high: Fraction, at_low: Fraction, at_high: Fraction) -> Fraction:
    """Where the straight line between the ends is zero; the middle where it is nowhere."""
    if at_low * at_high > 0 or at_low == at_high:
        return (low + high) / 2
    return low + (high - low) * at_low / (at_low - at_high)


def _on_grid(value: Fraction, unit: Fraction) -> Fraction:
    return Fraction(round(value / unit)) * unit


def _grid_between(
    low: Fraction, high: Fraction, unit: Fraction
) -> tuple[Fraction, Fraction] | None:
    """The least and the largest multiple of ``unit`` strictly between two values."""
    least = (low // unit + 1) * unit
    most = -(-high // unit) * unit - unit
    return (least, most) if least <= most else None


def _equal(probe: Probe, low: Fraction, high: Fraction) -> Fraction | None:
    """A value in the bracket at which the rate equals the floor: an end, or a short fraction."""
    for value in (low, high):
        if probe.equals(value):
            return value
    value = simplest(low, high)
    if value.denominator <= _SHORT_DENOMINATOR and probe.equals(value):
        return value
    return None


def simplest(low: Fraction, high: Fraction) -> Fraction:
    """The fraction of least denominator from ``low`` to ``high``, by continued fractions."""
    if low <= 0 <= high:
        return Fraction(0)
    if high < 0:
        return -simplest(-high, -low)
    whole = -(-low // 1)
    if whole <= high:
        return Fraction(whole)
    whole -= 1
    return whole + 1 / simplest(1 / (high - whole), 1 / (low - whole))
