"""A distribution known token by token between two bounds, and what its draws may be.

`LawBounds` stands for every distribution ``p(x) = v(x) / sum v`` with ``low(x) <= v(x) <= high(x)``
on the tokens ``ids`` and ``v = 0`` elsewhere. The bounds of a computed law hold its rounding: ours
against the real-valued softmax, and that of an engine that computes in a given arithmetic.

With A the sum of some tokens and B that of the others, ``A / (A + B)`` lies between
``A_low / (A_low + B_high)`` and ``A_high / (A_high + B_low)``. So the smallest x with
``u * total < v(0) + ... + v(x)`` is surely x, or surely is not, or is left open by the bounds.
``exact``: low and high are one array of multiples of 2^-52 that sum to one, whose sums no float64
arithmetic rounds.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from specdist.exact.float_prefix import prefix_error, prefix_sums
from specdist.exact.float_sum import exact_sum
from specdist.exact.interval import Interval
from specdist.exact.law import FloatLaw, Law
from specdist.exact.partial_law import PartialLaw

FloatArray = NDArray[np.float64]
_UNIT = 2.0**-53
_ZERO, _ONE = Fraction(0), Fraction(1)
_GRID = 2.0**52


@dataclass(frozen=True, eq=False)
class LawBounds:
    """See the module. ``ids`` are rising; ``low`` and ``high`` belong to them, ``0 <= low <=
    high``, and some ``high`` is above 0."""

    size: int
    ids: NDArray[np.intp]
    low: FloatArray
    high: FloatArray
    exact: bool = False

    @classmethod
    def of(cls, law: Law, slack: Fraction = _ZERO) -> LawBounds:
        """The probabilities of a law, each within the relative ``slack`` and the law's own bound;
        where both are 0 and no sum can round, exactly."""
        ids, values = _normalised(law)
        if not law.bound and not slack and _sums_exactly(law, values):
            return cls(law.size, ids, values, values, exact=True)
        wide = float(slack) + 2.1 * float(min(law.bound, _ONE)) + 8 * _UNIT
        return cls(law.size, ids, values * max(1.0 - wide, 0.0), values * (1.0 + wide))

    @classmethod
    def of_partial(cls, law: PartialLaw, size: int, slack: Fraction = _ZERO) -> LawBounds:
        """A law of which every possible token is listed. Raises ValueError for another."""
        if law.others != 0:
            raise ValueError("tokens that are not listed may have any id")
        low = np.array([float(value) for value in law.low])
        high = np.array([float(value) for value in law.high])
        wide = float(slack) + 8 * _UNIT
        least, most = float(law.scale.least), float(law.scale.most)
        ids = np.array(law.ids, dtype=np.intp)
        found = cls(size, ids, low * least * max(1.0 - wide, 0.0), high * most * (1.0 + wide))
        return found.as_probabilities()

    def as_probabilities(self) -> LawBounds:
        """The same law with bounds on its probabilities."""
        if self.exact:
            return self
        tiny = 1.0 + (prefix_error_of(len(self.ids)) + 8 * _UNIT)
        most, least = float(self.high.sum()) * tiny, float(self.low.sum()) / tiny
        with np.errstate(invalid="ignore", divide="ignore"):
            low = self.low / (self.low + np.maximum(most - self.high, 0.0))
            high = self.high / (self.high + np.maximum(least - self.low, 0.0))
        low, high = np.nan_to_num(low / tiny, nan=0.0), np.nan_to_num(high * tiny, nan=0.0)
        return LawBounds(self.size, self.ids, np.minimum(low, high), np.minimum(high, 1.0))

    def probability(self, token: int) -> Interval:
        """``p(token)``; 0 for a token that is not possible."""
        entry = self.entry(token)
        if entry is None:
            return Interval.of(0)
        bounds = self._probabilities
        return Interval(Fraction(float(bounds.low[entry])), Fraction(float(bounds.high[entry])))

    def minus(self, other: LawBounds) -> LawBounds | None:
        """``max(p(x) - other(x), 0)``, not normalised; None where it is surely 0 everywhere."""
        mine, theirs = self._probabilities, other._probabilities
        low, high = np.zeros(len(mine.ids)), np.zeros(len(mine.ids))
        entries = np.searchsorted(theirs.ids, mine.ids)
        entries = np.minimum(entries, max(len(theirs.ids) - 1, 0))
        common = theirs.ids[entries] == mine.ids if len(theirs.ids) else np.zeros(0, np.bool_)
        low[common], high[common] = theirs.low[entries[common]], theirs.high[entries[common]]
        least, most = np.maximum(mine.low - high, 0.0), np.maximum(mine.high - low, 0.0)
        if not (mine.exact and theirs.exact):
            least, most = least * (1.0 - 4 * _UNIT), most * (1.0 + 4 * _UNIT)
        if not most.any():
            return None
        total = float(most.sum())
        exact = mine.exact and theirs.exact and np.frexp(total)[0] == 0.5
        if mine.exact and theirs.exact and not exact:
            # The quotient by a sum that is no power of two rounds, and so do the sums of quotients.
            wide = (len(most) + 8) * _UNIT
            least, most = least * (1.0 - wide), most * (1.0 + wide)
        return LawBounds(mine.size, mine.ids, least, most, bool(exact))

    def without(self, token: int) -> LawBounds | None:
        """The law with one token removed, not normalised; None where nothing is left."""
        kept = self.ids != token
        ids, low, high = self.ids[kept], self.low[kept], self.high[kept]
        if not high.any():
            return None
        exact = self.exact and bool(kept.all())
        if self.exact and not exact:
            wide = (len(ids) + 8) * _UNIT
            low, high = low * (1.0 - wide), high * (1.0 + wide)
        return LawBounds(self.size, ids, low, high, exact)

    def entry(self, token: int) -> int | None:
        """Index of a token among ``ids``; None for one that is not possible."""
        entry = int(np.searchsorted(self.ids, token))
        inside = entry < len(self.ids) and self.ids[entry] == token and self.high[entry] > 0
        return entry if inside else None

    def supports(self) -> tuple[int, int]:
        """How many tokens are possible, at least and at most."""
        return int(np.count_nonzero(self.low > 0)), int(np.count_nonzero(self.high > 0))

    def uniforms(self, token: int) -> tuple[Interval, Interval]:
        """Where the cumulative share before a token may lie, and where that with it may lie."""
        entry = self.entry(token)
        before = int(np.searchsorted(self.ids, token))
        after = before if entry is None else before + 1
        return self._share(before), self._share(after)

    def draws(self, token: int, uniform: Fraction) -> bool | None:
        """Whether ``uniform`` draws ``token``, the smallest x with ``uniform < F(x)``, where F is
        the cumulative share in the order of the ids; None where the bounds leave it open."""
        entry = self.entry(token)
        if entry is None:
            return False
        before, after = self.uniforms(token)
        if uniform < before.least or uniform >= after.most:
            return False
        sure = self.low[entry] > 0 and uniform >= before.most and uniform < after.least
        return True if sure else None

    def drawn(self, uniform: Fraction) -> tuple[int, ...]:
        """The tokens that ``uniform`` may draw, rising; several where the bounds leave it open."""
        least, most = self._shares
        point, wide = float(uniform), 8 * prefix_error_of(len(self.ids)) + 8 * _UNIT
        first = int(np.searchsorted(most, point * (1.0 - wide), side="right"))
        last = int(np.searchsorted(least, point * (1.0 + wide), side="right"))
        tokens = self.ids[max(first - 1, 0) : last + 2].tolist()
        return tuple(token for token in tokens if self.draws(token, uniform) is not False)

    def wins(self, token: int, noise: FloatArray) -> bool | None:
        """Whether ``token`` is the argmax of ``p(x) / noise(x)``; None where the bounds leave it
        open. ``noise``: float64 [size], positive."""
        entry = self.entry(token)
        if entry is None:
            return False
        with np.errstate(divide="ignore", invalid="ignore"):
            low = self.low / noise[self.ids] * (1.0 - 4 * _UNIT)
            high = self.high / noise[self.ids] * (1.0 + 4 * _UNIT)
        low, high = np.nan_to_num(low, nan=0.0), np.nan_to_num(high, nan=np.inf)
        mine_low, mine_high = low[entry], high[entry]
        low[entry] = high[entry] = 0.0
        if mine_high < low.max(initial=0.0):
            return False
        return True if mine_low > high.max(initial=0.0) else None

    @cached_property
    def _probabilities(self) -> LawBounds:
        return self.as_probabilities()

    @cached_property
    def _prefixes(self) -> tuple[FloatArray, FloatArray, float]:
        """Cumulative sums of low and high, 0 first, and their relative error."""
        error = 0.0 if self.exact else prefix_error_of(len(self.ids)) + 4 * _UNIT
        low = np.concatenate([[0.0], prefix_sums(self.low)])
        return low, np.concatenate([[0.0], prefix_sums(self.high)]), error

    @cached_property
    def _shares(self) -> tuple[FloatArray, FloatArray]:
        """Roughly, the cumulative shares with each token: least and most."""
        low, high, _ = self._prefixes
        with np.errstate(invalid="ignore", divide="ignore"):
            least = low[1:] / (low[1:] + (high[-1] - high[1:]))
            most = high[1:] / (high[1:] + (low[-1] - low[1:]))
        return np.nan_to_num(least, nan=0.0), np.nan_to_num(most, nan=1.0)

    def _share(self, count: int) -> Interval:
        """The share of the first ``count`` ids."""
        if count == len(self.ids):
            return Interval.of(1)
        low, high, error = self._prefixes
        some_low, all_low = Fraction(float(low[count])), Fraction(float(low[-1]))
        some_high, all_high = Fraction(float(high[count])), Fraction(float(high[-1]))
        # The error of a difference of two prefix sums is that of the larger one.
        off_low, off_high = Fraction(error) * all_low, Fraction(error) * all_high
        least, most = max(some_low - off_low, _ZERO), some_high + off_high if count else _ZERO
        rest_least = max(all_low - some_low - 2 * off_low, _ZERO)
        rest_most = all_high - some_high + 2 * off_high
        return Interval(
            least / (least + rest_most) if least else _ZERO,
            most / (most + rest_least) if most else _ZERO,
        )


def prefix_error_of(size: int) -> float:
    """Relative error of the prefix sums of an array, as a float64 that is not too small."""
    return float(prefix_error(max(size, 1))) * (1.0 + 2.0**-20)


def _normalised(law: Law) -> tuple[NDArray[np.intp], FloatArray]:
    """Possible tokens, rising, and their probabilities within a few units of float64."""
    if isinstance(law, FloatLaw):
        ids = np.arange(law.size) if law.ids is None else law.ids
        weights = law.weights
        kept = weights > 0
        ids, weights = ids[kept], weights[kept]
        return ids, weights / float(exact_sum(weights))
    tokens = [token for token, value in enumerate(law.values) if value]
    return np.array(tokens, dtype=np.intp), np.array([float(law.values[x]) for x in tokens])


def _sums_exactly(law: Law, values: FloatArray) -> bool:
    """Whether every probability is a multiple of 2^-52, stored exactly, and they sum to one."""
    if (np.rint(values * _GRID) != values * _GRID).any():
        return False
    if isinstance(law, FloatLaw):
        scale = float(exact_sum(law.weights[law.weights > 0]))
        return bool(np.frexp(scale)[0] == 0.5) and exact_sum(values) == 1
    stored = all(Fraction(float(value)) == value for value in law.values)
    return stored and sum(law.values, _ZERO) == 1
