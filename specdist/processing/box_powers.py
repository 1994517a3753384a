"""The sum of the weights at another temperature, where some are known as boxes only.

With ``a = 1/T`` and weights w(x) in boxes whose sum S is known, the sum of ``w(x)^a`` is least and
most at two arrangements. For a < 1 the power is concave: the sum is most where the weights are as
equal as the boxes let them be, ``w(x) = min(max(c, l(x)), h(x))`` for one c (all have the same
slope a c^(a-1) there), and least where they are as unequal as possible: the large boxes full, the
small ones empty, one between. (Mass that moves from a smaller to a larger weight lowers the sum;
where boxes overlap but rise together, the weights of two may be swapped first.) For a > 1 it is the
other way round. Both rise with S. n tokens of at most u each that share R alone give

    floor(R/u) u^a + (R - floor(R/u) u)^a    and    n (R/n)^a,

which is unbounded (a < 1) or 0 (a > 1) where nothing bounds n. Where boxes do not rise together
the power is replaced by its chord over each box, which bounds it on the right side, and the
program that is left is bounded by its dual for the best of the chords' slopes.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise
from typing import NamedTuple

from specdist.processing.logit import ZERO
from specdist.processing.spans import Span, power, product


class Range(NamedTuple):
    """``number`` tokens (None: any number) whose weights lie from ``low`` to ``high``."""

    low: Fraction
    high: Fraction
    number: int | None = 1


def power_sum(ranges: Sequence[Range], total: Span, exponent: Fraction) -> Span:
    """From the least to the most of ``sum w^exponent`` for weights in the ranges whose sum lies
    in ``total``; only ranges from 0 may have no number. Raises ValueError where no weights do."""
    lowest = sum((product(r.number, r.low) or ZERO for r in ranges), ZERO)
    tops = [product(r.number, r.high) for r in ranges]
    highest = None if None in tops else sum((top for top in tops if top is not None), ZERO)
    span = total.within(lowest, highest)
    if span.most is not None and span.least > span.most:
        raise ValueError("the weights cannot have this sum")
    equal = _equal if exponent < 1 else _equal_least
    spread_end, equal_end = (span.least, span.most) if exponent < 1 else (span.most, span.least)
    spread = None if spread_end is None else _spread(ranges, spread_end - lowest, exponent)
    level = None if equal_end is None else equal(ranges, equal_end, exponent)
    if exponent < 1:
        return Span(spread.least if spread is not None else ZERO, level)
    return Span(level or ZERO, None if spread is None else spread.most)


def _equal(ranges: Sequence[Range], total: Fraction, exponent: Fraction) -> Fraction | None:
    """The most of a concave sum; None where any number of tokens may share."""
    if any(r.number is None for r in ranges):
        return (
            None
            if total > sum((product(r.number, r.low) or ZERO for r in ranges), ZERO)
            else (_levelled(ranges, ZERO, exponent).most)
        )
    return _levelled(ranges, _level(ranges, total), exponent).most


def _equal_least(ranges: Sequence[Range], total: Fraction, exponent: Fraction) -> Fraction:
    """The least of a convex sum: tokens without a number may share what they have for nothing."""
    finite = [r for r in ranges if r.number is not None]
    if len(finite) < len(ranges):
        return _levelled(finite, ZERO, exponent).least
    return _levelled(ranges, _level(ranges, total), exponent).least


def _level(ranges: Sequence[Range], total: Fraction) -> Fraction:
    """The c for which ``sum min(max(c, low), high)`` is ``total``."""
    ends = sorted({r.low for r in ranges} | {r.high for r in ranges})
    before = ZERO
    for one, other in pairwise(ends):
        below, above = _clipped(ranges, one), _clipped(ranges, other)
        if total <= above:
            return one + (other - one) * (total - below) / (above - below) if above > below else one
        before = other
    return max(before, ends[0]) if ends else ZERO


def _clipped(ranges: Sequence[Range], level: Fraction) -> Fraction:
    return sum(((r.number or 0) * min(max(level, r.low), r.high) for r in ranges), ZERO)


def _levelled(ranges: Sequence[Range], level: Fraction, exponent: Fraction) -> Span:
    found = Span.of(ZERO)
    for r in ranges:
        weight = min(max(level, r.low), r.high)
        if weight:
            found = found.plus(power(weight, exponent).times(Span.of(Fraction(r.number or 0))))
    return found


def _spread(ranges: Sequence[Range], excess: Fraction, exponent: Fraction) -> Span:
    """Ends that hold the extreme of the unequal side: exact where the ranges rise together."""
    order = sorted(ranges, key=lambda r: (r.high, r.low))
    if any(one.low > other.low for one, other in pairwise(order)):
        return _chords(ranges, excess, exponent)
    found = Span.of(ZERO)
    for r in reversed(order):
        width = r.high - r.low
        fits = 0 if not width else int(excess / width)
        full = fits if r.number is None else min(fits, r.number)
        excess -= full * width
        found = found.plus(_times(full, r.high, exponent))
        left = None if r.number is None else r.number - full
        if left != 0 and excess < width and excess:
            found = found.plus(power(r.low + excess, exponent))
            excess = ZERO
            left = None if left is None else left - 1
        if left:
            found = found.plus(_times(left, r.low, exponent))
    return found


def _times(count: int, weight: Fraction, exponent: Fraction) -> Span:
    return power(weight, exponent).times(Span.of(Fraction(count)))


class _Chord(NamedTuple):
    """The ends of the power at both ends of a range, and the width of the range."""

    low: Span
    high: Span
    width: Fraction
    number: int | None


def _chords(ranges: Sequence[Range], excess: Fraction, exponent: Fraction) -> Span:
    """The dual of ``sum chord(w)`` for every chord's slope as its price; the best one counts."""
    chords = [
        _Chord(power(r.low, exponent), power(r.high, exponent), r.high - r.low, r.number)
        for r in ranges
    ]
    concave = exponent < 1
    values = []
    for priced in chords:
        if priced.width:
            slope = (_end(priced.high, concave) - _end(priced.low, not concave)) / priced.width
            value = _dual(chords, slope, excess, concave)
            if value is not None:
                values.append(value)
    if not values:
        return Span(ZERO, None)
    return Span(max(values), None) if concave else Span(ZERO, min(values))


def _end(span: Span, least: bool) -> Fraction:
    return span.least if least or span.most is None else span.most


def _dual(
    chords: Sequence[_Chord], price: Fraction, excess: Fraction, least: bool
) -> Fraction | None:
    """``sum (f(l) + ext(0, f(h) - f(l) - price (h - l))) + price excess``, ext the minimum for a
    lower bound (``least``), the maximum for an upper one."""
    value = price * excess
    for chord in chords:
        foot = _end(chord.low, least)
        gain = _end(chord.high, least) - price * chord.width
        gain = min(gain, foot) if least else max(gain, foot)
        if chord.number is None:
            if gain:
                return None
            continue
        value += chord.number * gain
    return value
