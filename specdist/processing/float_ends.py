"""The two ends of every listed token of a float carrier, as weights that are rounded outwards."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
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
_SORTED_FROM = 4_096
_LARGEST_BOUND = Fraction(1, 100)
"""Beyond it `softmax_weights` promises nothing."""


@dataclass(frozen=True, eq=False)
class Ends:
    """Weights in units of the carrier. ``ids``: the listed tokens, rising; ``low`` and ``high``:
    their ends; ``wide``: those with an upper entry, whose ids are ``upper_ids``. ``keys`` order the
    entries of ``low_places`` (-1: none) and ``high_places``; see `Box`."""

    row: FloatRow
    ids: NDArray[np.intp]
    low: FloatArray
    high: FloatArray
    wide: NDArray[np.bool_]
    upper_ids: NDArray[np.intp]
    low_places: NDArray[np.intp]
    high_places: NDArray[np.intp]
    low_keys: FloatArray
    high_keys: FloatArray
    down: FloatArray
    up: FloatArray
    bound: Fraction

    def entry(self, place: int) -> Span:
        return Span(Fraction(float(self.down[place])), Fraction(float(self.up[place])))

    @property
    def anchor(self) -> Span:
        place = self.row.entry(ANCHOR)
        if place is None:
            raise ValueError("a listing has an anchor")
        return self.entry(place)

    @property
    def cap(self) -> Span | None:
        place = self.row.entry(CAP)
        return None if place is None else self.entry(place)

    @property
    def cap_key(self) -> float | None:
        place = self.row.entry(CAP)
        return None if place is None else float(self.high_keys[place])

    def rows(
        self, chosen: NDArray[np.bool_]
    ) -> Iterator[tuple[int, float | None, float, float, float]]:
        """Token, keys and weights of some tokens."""
        low_places, high_places = self.low_places[chosen], self.high_places[chosen]
        low_keys = self.low_keys[low_places].tolist()
        keys = [
            None if place < 0 else key
            for place, key in zip(low_places.tolist(), low_keys, strict=True)
        ]
        return zip(
            self.ids[chosen].tolist(),
            keys,
            self.high_keys[high_places].tolist(),
            self.low[chosen].tolist(),
            self.high[chosen].tolist(),
            strict=True,
        )

    def floor_of_mass(self, mass: Fraction) -> float:
        """A weight such that the lower ends of at least that have the mass; 0 where none do, or
        where the row is short."""
        if len(self.low) < _SORTED_FROM:
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
    down, up = weights, weights
    if bound:
        share = float(bound) * (1 + _GUARD) + _GUARD
        down, up = weights * (1 - share), weights * (1 + share)
        tiny = weights < _SMALLEST
        if tiny.any():
            down[tiny], up[tiny] = 0.0, 2 * _SMALLEST
    exact = not row.score_error if row.logits else not row.weight_error
    ranks = row.ranks() if exact or row.order is not None else None
    own = row.tokens()
    first, last = np.searchsorted(own, [BASE, CAP])
    lower, upper = own[:first], own[first:last] - BASE
    ids, low_places, high_places = _places(lower, upper)
    return Ends(
        row=row,
        ids=ids,
        low=np.where(low_places < 0, 0.0, down[low_places]),
        high=up[high_places],
        wide=high_places >= first,
        upper_ids=upper,
        low_places=low_places,
        high_places=high_places,
        low_keys=down if ranks is None else ranks,
        high_keys=up if ranks is None else ranks,
        down=down,
        up=up,
        bound=bound,
    )


def _places(
    lower: NDArray[np.intp], upper: NDArray[np.intp]
) -> tuple[NDArray[np.intp], NDArray[np.intp], NDArray[np.intp]]:
    """The tokens with entries, and where the entry of each end is (-1: nowhere)."""
    count = len(lower)
    if not len(upper):
        return lower, np.arange(count), np.arange(count)
    if np.array_equal(lower, upper):
        return lower, np.arange(count), np.arange(count, 2 * count)
    ids = np.union1d(lower, upper)
    low_places = np.full(len(ids), -1, dtype=np.intp)
    low_places[np.searchsorted(ids, lower)] = np.arange(count)
    high_places = low_places.copy()
    high_places[np.searchsorted(ids, upper)] = np.arange(count, count + len(upper))
    return ids, low_places, high_places
