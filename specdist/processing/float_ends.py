"""The two ends of every listed token of a float carrier, as weights that are rounded outwards."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import inf, nextafter

import numpy as np
from numpy.typing import NDArray

from specdist.errors import SettingsError
from specdist.exact.float_prefix import prefix_error, prefix_sums
from specdist.processing.float_row import FloatRow
from specdist.processing.float_weights import FloatArray
from specdist.processing.listing import ANCHOR, BASE, CAP
from specdist.processing.spans import Span, logarithm_above

_SMALLEST = 2.0**-1021
"""Rounded weights below this may be off by any factor."""
_GUARD = 2.0**-52
_SUBNORMALS = 1074
UNIT = Fraction(1, 1 << _SUBNORMALS)
"""Every float64 is a whole multiple of it."""
_SHORT = 64
"""Rows of fewer tokens are looked at token by token."""
_LARGEST_BOUND = Fraction(1, 100)
"""Beyond it `softmax_weights` promises nothing."""


@dataclass(frozen=True, eq=False)
class Ends:
    """Weights in units of the carrier. ``ids``: the listed tokens, rising; ``low`` and ``high``:
    their ends, 0 where a token may be impossible; ``wide``: those with an upper entry.
    ``low_places`` (-1: none) and ``high_places`` are their entries; ``ranks`` orders all entries
    exactly (None: only the weights do)."""

    row: FloatRow
    weights: FloatArray
    share: float
    bound: Fraction
    ids: NDArray[np.intp]
    low: FloatArray
    high: FloatArray
    low_places: NDArray[np.intp]
    high_places: NDArray[np.intp]
    ranks: FloatArray | None
    wide_count: int

    @property
    def wide(self) -> NDArray[np.bool_]:
        return np.not_equal(self.low_places, self.high_places)

    def entry(self, place: int) -> Span:
        low, high = _around(self.weights[place : place + 1], self.share)
        return Span(Fraction(float(low[0])), Fraction(float(high[0])))

    @cached_property
    def anchor(self) -> Span:
        place = self.row.entry(ANCHOR)
        if place is None:
            raise ValueError("a listing has an anchor")
        return self.entry(place)

    @cached_property
    def cap(self) -> Span | None:
        place = self.row.entry(CAP)
        return None if place is None else self.entry(place)

    @property
    def cap_key(self) -> float | None:
        place = self.row.entry(CAP)
        if place is None or self.cap is None or self.cap.most is None:
            return None
        return float(self.cap.most) if self.ranks is None else float(self.ranks[place])

    def parts(self, values: FloatArray) -> tuple[FloatArray, FloatArray]:
        """``low`` or ``high`` of the sharp tokens, and of the wide ones."""
        if not self.wide_count:
            return values, values[:0]
        if self.wide_count == len(values):
            return values[:0], values
        return values[~self.wide], values[self.wide]

    def rows(
        self, chosen: NDArray[np.intp]
    ) -> Iterator[tuple[int, float | None, float, float, float]]:
        """Token, keys and weights of some tokens."""
        low, high = self.low[chosen], self.high[chosen]
        low_places, high_places = self.low_places[chosen], self.high_places[chosen]
        low_keys = low if self.ranks is None else self.ranks[low_places]
        high_keys = high if self.ranks is None else self.ranks[high_places]
        keys = [
            None if place < 0 else key
            for place, key in zip(low_places.tolist(), low_keys.tolist(), strict=True)
        ]
        return zip(
            self.ids[chosen].tolist(),
            keys,
            high_keys.tolist(),
            low.tolist(),
            high.tolist(),
            strict=True,
        )

    def with_zeros(
        self, impossible: Sequence[int]
    ) -> tuple[NDArray[np.intp], FloatArray, FloatArray]:
        """Ids, ``low`` and ``high`` of the tokens and of others that are impossible."""
        if not len(impossible):
            return self.ids, self.low, self.high
        ids = np.concatenate((self.ids, np.asarray(impossible, dtype=np.intp)))
        order = np.argsort(ids, kind="stable")
        zeros = np.zeros(len(impossible))
        low, high = (np.concatenate((ends, zeros))[order] for ends in (self.low, self.high))
        return ids[order], low, high

    def floor_of_mass(self, mass: Fraction) -> float:
        """A weight such that the lower ends of at least that have the mass; 0 where none do, or
        where the row is short."""
        if len(self.low) < _SHORT:
            return 0.0
        falling = np.sort(self.low)[::-1]
        sums = prefix_sums(falling) * float(1 - 2 * prefix_error(len(falling)))
        place = int(np.searchsorted(sums, nextafter(float(mass), inf)))
        return float(falling[place]) if place < len(falling) else 0.0

    def score_above(self, weight: Fraction) -> float:
        """The score of an entry whose weight is at least ``weight`` times the anchor's, by little;
        before any step."""
        place = self.row.entry(ANCHOR)
        anchor = Fraction(float(self.row.scores()[place]))
        wanted = anchor + logarithm_above(weight) if self.row.logits else anchor * weight
        score = float(wanted)
        return score if Fraction(score) >= wanted else nextafter(score, inf)


def ends_of(row: FloatRow) -> Ends:
    """The ends of a carrier's tokens. Raises SettingsError where rounding leaves nothing of the
    weights."""
    weights, bound = row.weighed(row.scores())
    if bound > _LARGEST_BOUND:
        raise SettingsError(
            f"the weights are rounded by a relative {float(bound):.3g} at this temperature",
            expected="a temperature that is not far below the rounding of the stored numbers",
            advice="temperature 0 takes the most likely token",
        )
    share = float(bound) * (1 + _GUARD) + _GUARD if bound else 0.0
    exact = not row.score_error if row.logits else not row.weight_error
    own = row.tokens()
    first, last = (int(place) for place in np.searchsorted(own, [BASE, CAP]))
    ids, low_places, high_places = _places(own[:first], own[first:last] - BASE)
    if len(ids) == first and last in (first, 2 * first):
        low = _around(weights[:first], share)[0]
        high = _around(weights[last - first : last], share)[1]
    else:
        lows, highs = _around(weights, share)
        low, high = np.where(low_places < 0, 0.0, lows[low_places]), highs[high_places]
    ranks = row.ranks() if exact or row.order is not None else None
    wide = last - first
    return Ends(row, weights, share, bound, ids, low, high, low_places, high_places, ranks, wide)


def scaled(weight: float) -> int:
    """A float64 as a whole multiple of `UNIT`."""
    numerator, denominator = weight.as_integer_ratio()
    return numerator << (_SUBNORMALS + 1 - denominator.bit_length())


def _around(weights: FloatArray, share: float) -> tuple[FloatArray, FloatArray]:
    """Weights less and more their rounding."""
    if not share:
        return weights, weights
    low, high = weights * (1 - share), weights * (1 + share)
    if len(weights) and weights.min() < _SMALLEST:
        tiny = weights < _SMALLEST
        low[tiny], high[tiny] = 0.0, 2 * _SMALLEST
    return low, high


def _places(
    lower: NDArray[np.intp], upper: NDArray[np.intp]
) -> tuple[NDArray[np.intp], NDArray[np.intp], NDArray[np.intp]]:
    """The tokens with entries, and where the entry of each end is (-1: nowhere)."""
    count = len(lower)
    places = np.arange(count)
    if not len(upper):
        return lower, places, places
    if np.array_equal(lower, upper):
        return lower, places, places + count
    ids = np.union1d(lower, upper)
    low_places = np.full(len(ids), -1, dtype=np.intp)
    low_places[np.searchsorted(ids, lower)] = places
    high_places = low_places.copy()
    high_places[np.searchsorted(ids, upper)] = np.arange(count, count + len(upper))
    return ids, low_places, high_places
