"""Intervals of many numbers at once as float64 arrays, rounded outwards; see `spans.Spans`.

Each operation rounds once, by at most a share 2**-53 of its result, and the ends move outwards by
2**-51 of it. What underflows is below 2**-1000 in every sum.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from specdist.exact.float_masses import (
    FloatArray,
    bounds,
    float_down,
    float_up,
    sum_down,
    sum_up,
)
from specdist.exact.interval import Interval
from specdist.exact.partial_law import PartialLaw
from specdist.exact.partial_masses import Totals, least_mass

_SHIFT = 2.0**-51
_TINY = Fraction(1, 2**1000)
_ZERO, _ONE = Fraction(0), Fraction(1)


@dataclass(frozen=True, eq=False)
class FloatSpans:
    """See `Spans`."""

    least: FloatArray
    most: FloatArray

    @classmethod
    def of(cls, law: PartialLaw, whole: Totals, tokens: NDArray[np.intp]) -> FloatSpans:
        """The probabilities of some tokens, rising. ``whole``: the law as a whole."""
        elsewhere = whole.unlisted
        most_elsewhere = 1 - least_mass(
            whole.scale, whole.listed.low, elsewhere.high, elsewhere.extra
        )
        least = np.zeros(len(tokens))
        most = np.full(len(tokens), float_up(most_elsewhere))
        ids = np.asarray(law.ids, np.intp)
        places = np.searchsorted(tokens, ids)
        inside = places < len(tokens)
        inside[inside] = tokens[places[inside]] == ids[inside]
        low, high = bounds(law)
        shares = _shares(low[inside], high[inside], whole)
        least[places[inside]], most[places[inside]] = shares.least, shares.most
        return cls(least, most)

    def __add__(self, other: FloatSpans) -> FloatSpans:
        return _outward(self.least + other.least, self.most + other.most)

    def __sub__(self, other: FloatSpans) -> FloatSpans:
        return _outward(self.least - other.most, self.most - other.least)

    def times(self, other: FloatSpans) -> FloatSpans:
        ends = [a * b for a in (self.least, self.most) for b in (other.least, other.most)]
        first, second = np.minimum(ends[0], ends[1]), np.maximum(ends[0], ends[1])
        third, fourth = np.minimum(ends[2], ends[3]), np.maximum(ends[2], ends[3])
        return _outward(np.minimum(first, third), np.maximum(second, fourth))

    def smaller(self, other: FloatSpans) -> FloatSpans:
        return FloatSpans(np.minimum(self.least, other.least), np.minimum(self.most, other.most))

    def positive(self) -> FloatSpans:
        return FloatSpans(np.maximum(self.least, 0.0), np.maximum(self.most, 0.0))

    def capped_quotient(self, other: FloatSpans) -> FloatSpans:
        known = other.least > 0
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            least = np.where(known, self.least / other.most, 0.0)
            most = np.where(known, self.most / other.least, 1.0)
        found = _outward(np.minimum(least, 1.0), np.minimum(most, 1.0))
        return FloatSpans(np.maximum(found.least, 0.0), np.minimum(found.most, 1.0))

    def scaled(self, factor: Interval) -> FloatSpans:
        size = len(self.least)
        ends = _down(factor.least), _up(factor.most)
        return self.times(FloatSpans(np.full(size, ends[0]), np.full(size, ends[1])))

    def at_most(self, limit: Fraction) -> FloatSpans:
        return FloatSpans(
            np.minimum(self.least, float_down(limit)), np.minimum(self.most, float_up(limit))
        )

    def up_to(self, limit: Fraction) -> FloatSpans:
        return FloatSpans(self.at_most(limit).least, np.full(len(self.least), float_up(limit)))

    def meet(self, other: FloatSpans) -> FloatSpans:
        return FloatSpans(np.maximum(self.least, other.least), np.minimum(self.most, other.most))

    def complement(self) -> FloatSpans:
        return _outward(1.0 - self.most, 1.0 - self.least)

    def total(self) -> Interval:
        least = sum_down(np.maximum(self.least, 0.0)) - sum_up(np.maximum(-self.least, 0.0))
        most = sum_up(np.maximum(self.most, 0.0)) - sum_down(np.maximum(-self.most, 0.0))
        return Interval(least - _TINY, most + _TINY)

    def losses(self) -> Interval:
        least = sum_down(np.maximum(-self.most, 0.0)) - _TINY
        return Interval(max(least, _ZERO), sum_up(np.maximum(-self.least, 0.0)) + _TINY)

    def at(self, place: int) -> Interval:
        least, most = Fraction(float(self.least[place])), Fraction(float(self.most[place]))
        return Interval(least, most)


def union(laws: Sequence[PartialLaw], tokens: Sequence[int]) -> tuple[NDArray[np.intp], list[int]]:
    """All tokens that some law lists, and the given ones, rising; and the places of those."""
    found = np.zeros(0, np.intp)
    for law in sorted(laws, key=lambda law: -len(law.ids)):
        found = _joined(found, np.asarray(law.ids, np.intp))
    found = _joined(found, np.array(sorted(tokens), np.intp))
    return found, np.searchsorted(found, np.array(tokens, np.intp)).tolist()


def _joined(known: NDArray[np.intp], more: NDArray[np.intp]) -> NDArray[np.intp]:
    """The tokens of two rising lists, rising; quick where the first has those of the second."""
    if not len(known) or np.array_equal(known, more):
        return more
    places = np.minimum(np.searchsorted(known, more), len(known) - 1)
    return known if (known[places] == more).all() else np.union1d(known, more)


def _shares(low: FloatArray, high: FloatArray, whole: Totals) -> FloatSpans:
    """`spans.share` of listed tokens, as arrays."""
    scale, listed, rest = whole.scale, whole.listed, whole.rest
    first, last = float_down(scale.least), float_up(scale.most)
    total_low, total_high = float_down(listed.low), float_up(listed.high + rest.high)
    free = float_down(max(_ONE - rest.extra, _ZERO))
    others_high = np.maximum((total_high - high) * (1 + 4 * _SHIFT), 0.0) + 4 * _SHIFT * total_high
    others_low = np.maximum(total_low * (1 - 4 * _SHIFT) - low, 0.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        inside = np.where(low > 0, free * low / (low + others_high), 0.0)
        outside = np.where(others_low > 0, others_low / (others_low + high), 0.0)
    margin = 8 * _SHIFT
    least = np.maximum(inside, first * low) * (1 - margin)
    least = np.maximum(least, free - last * others_high * (1 + margin) - margin)
    elsewhere = np.maximum(outside, first * others_low) * (1 - margin)
    elsewhere = np.maximum(elsewhere, 1.0 - last * high * (1 + margin) - margin)
    most = np.minimum(1.0 - elsewhere + margin, last * high * (1 + margin))
    return FloatSpans(np.clip(least, 0.0, 1.0), np.clip(most, 0.0, 1.0))


def _outward(least: FloatArray, most: FloatArray) -> FloatSpans:
    return FloatSpans(least - np.abs(least) * _SHIFT, most + np.abs(most) * _SHIFT)


def _down(value: Fraction) -> float:
    return float_down(value) if value >= 0 else -float_up(-value)


def _up(value: Fraction) -> float:
    return float_up(value) if value >= 0 else -float_down(-value)
