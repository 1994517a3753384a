"""`box_powers` for many float64 ranges: both extremes from their duals, in a few passes.

For any level c and price m the dual of the equal side is ``sum f(w_c) + f'(c) (S - sum w_c)`` with
``w_c = min(max(c, l), h)``, that of the unequal side ``sum ext(f(l), f(h) - m (h - l)) + m (S -
sum l)``. Every c and every m gives a proven end, so they are looked for in plain float64, and only
the value counts: terms are within a relative ``4 b + 2^-40``, with b the bound of the weights and
the rest for the rounding of pairwise sums and of quotients.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from specdist.processing.box_powers import Range
from specdist.processing.logit import ZERO
from specdist.processing.spans import Span, power, product

FloatArray = NDArray[np.float64]
_HALVINGS = 14
_ROUNDING = 2.0**-40
_UNDERFLOW = Fraction(1, 2**900)
"""More than weights below 2^-1022 can be off in all; the largest weight is near 1."""


@dataclass(frozen=True, eq=False)
class Ranges:
    """Weights from ``low`` to ``high`` and their powers, each within the relative ``bound``."""

    low: FloatArray
    high: FloatArray
    low_power: FloatArray
    high_power: FloatArray
    bound: Fraction

    def slack(self, terms: float) -> Fraction:
        """What rounding makes of terms of this size in all."""
        return Fraction(terms) * (4 * self.bound + Fraction(_ROUNDING)) + _UNDERFLOW


def array_power_sum(ranges: Ranges, group: Range | None, total: Span, exponent: Fraction) -> Span:
    """`power_sum` of the ranges and, where there is one, of the ``group``."""
    rounding = ranges.slack(float(ranges.high.sum()))
    lowest = Fraction(float(ranges.low.sum())) - rounding
    unlisted = ZERO if group is None else product(group.number, group.high)
    highest = None
    if unlisted is not None:
        highest = Fraction(float(ranges.high.sum())) + rounding + unlisted
    span = total.within(max(lowest, ZERO), highest)
    if span.most is not None and span.least > span.most:
        raise ValueError("the weights cannot have this sum")
    if exponent < 1:
        least = _unequal(ranges, group, span.least, exponent)
        return Span(max(least or ZERO, ZERO), _equal(ranges, group, span.most, exponent))
    least = _equal(ranges, group, span.least, exponent)
    return Span(max(least or ZERO, ZERO), _unequal(ranges, group, span.most, exponent))


def _equal(
    ranges: Ranges, group: Range | None, total: Fraction | None, exponent: Fraction
) -> Fraction | None:
    """The most of a concave sum, or the least of a convex one; None: no bound."""
    concave = exponent < 1
    if total is None:
        return None
    if group is not None and group.number is None:  # they may share what they have for nothing
        least = float(ranges.low_power.sum())
        return None if concave else Fraction(least) - ranges.slack(least)
    level = _level(ranges, group, float(total))
    clipped = np.clip(level, ranges.low, ranges.high)
    at_level = power(Fraction(level), exponent)
    powers = np.where(
        ranges.high <= level,
        ranges.high_power,
        np.where(ranges.low >= level, ranges.low_power, float(at_level.least)),
    )
    sums, weights = float(powers.sum()), float(clipped.sum())
    value, terms = Fraction(sums), Fraction(sums)
    spent = Fraction(weights)
    if group is not None and group.number is not None:
        cut = min(Fraction(level), group.high)
        own = power(cut, exponent).times(Span.of(Fraction(group.number)))
        value += _end(own, least=not concave)
        spent += group.number * cut
    slope = exponent * at_level.least / Fraction(level)
    value += slope * (total - spent)
    slack = ranges.slack(float(terms + slope * (total + spent)))
    return value + slack if concave else value - slack


def _end(span: Span, least: bool) -> Fraction:
    return span.least if least or span.most is None else span.most


def _level(ranges: Ranges, group: Range | None, total: float) -> float:
    """About the c for which the clipped weights have this sum."""
    count = 0 if group is None or group.number is None else group.number
    cap = float(group.high) if group is not None else 0.0
    low = max(min(float(ranges.low.min()), total / max(len(ranges.low) + count, 1)), 2.0**-1000)
    high = max(float(ranges.high.max()), low)
    for _ in range(_HALVINGS):
        middle = (low * high) ** 0.5 if low * high > 0 else low
        reached = float(np.clip(middle, ranges.low, ranges.high).sum()) + count * min(middle, cap)
        low, high = (middle, high) if reached < total else (low, middle)
    return high


def _unequal(
    ranges: Ranges, group: Range | None, total: Fraction | None, exponent: Fraction
) -> Fraction | None:
    """The least of a concave sum, or the most of a convex one; None: no bound."""
    if total is None:
        return None
    concave = exponent < 1
    width = ranges.high - ranges.low
    excess = total - Fraction(float(ranges.low.sum()))
    price = Fraction(_price(ranges, width, group, float(excess), exponent))
    gains = ranges.high_power - float(price) * width
    chosen = np.minimum(gains, ranges.low_power) if concave else np.maximum(gains, ranges.low_power)
    value = Fraction(float(chosen.sum())) + price * excess
    terms = Fraction(float(np.abs(chosen).sum())) + price * (
        abs(excess) + Fraction(float(ranges.high.sum()))
    )
    if group is not None:
        filled = _end(power(group.high, exponent), least=concave) - price * group.high
        gain = min(filled, ZERO) if concave else max(filled, ZERO)
        if gain:
            if group.number is None:
                return None
            value += group.number * gain
    slack = ranges.slack(float(terms))
    return value - slack if concave else value + slack


def _price(
    ranges: Ranges, width: FloatArray, group: Range | None, excess: float, exponent: Fraction
) -> float:
    """About the slope of the chord at which the excess is spent; on the side of the group's own
    slope that gives a bound where any number of tokens may be in it."""
    concave = exponent < 1
    wide = width > 0
    slopes = (ranges.high_power - ranges.low_power)[wide] / width[wide]
    widths = width[wide]
    own = 0.0
    if group is not None and group.high:
        own = float(_end(power(group.high, exponent), least=concave) / group.high)
    ends = [float(slopes.min()), float(slopes.max())] if len(slopes) else [own, own]
    low, high = min([*ends, own or ends[0]]), max([*ends, own or ends[1]])
    low = max(low, 2.0**-1000)
    capacity = 0.0
    if group is not None:
        capacity = float("inf") if group.number is None else group.number * float(group.high)
    for _ in range(_HALVINGS):
        middle = (low * high) ** 0.5
        filled = slopes < middle if concave else slopes > middle
        spent = float(widths[filled].sum())
        if own and (own < middle if concave else own > middle):
            spent += capacity
        if (spent < excess) == concave:
            low = middle
        else:
            high = middle
    price = high if concave else low
    if group is not None and group.number is None and own:
        price = min(price, own) if concave else max(price, own)
    return price
