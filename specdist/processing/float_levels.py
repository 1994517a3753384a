"""Where a cut falls in a dumped row: exact cumulative mass without sorting the vocabulary.

The distinct scores of a row in falling order, with how many tokens share each, are its *levels*.
A 16-bit row of 151,936 tokens has a few thousand levels. For a float32 row only the top of the row
is sorted: counting by the high bits of the weights finds a floor above which more than the wanted
mass lies for sure.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import ceil, floor

import numpy as np
from numpy.typing import NDArray

from specdist.exact.float_sum import exact_dots

FloatArray = NDArray[np.float64]

_BIN_SHIFT = 46
_BINS = (0x3FF0_0000_0000_0000 >> _BIN_SHIFT) + 2


@dataclass(frozen=True, slots=True, eq=False)
class Levels:
    """Scores in falling order, the weight of one token of each, and how many tokens have it."""

    scores: FloatArray
    weights: FloatArray
    counts: NDArray[np.intp]

    def mass_before(self, level: int) -> Fraction:
        """Exact mass of the tokens above a level."""
        return exact_dots(
            self.weights[:level], [self.counts[:level]], int(self.counts[:level].sum()) + 1
        )[0]


@dataclass(frozen=True, slots=True)
class PrefixCut:
    """The last kept score, how many of its tokens are kept, and the mass without and with the
    last of them."""

    score: float
    kept_ties: int
    tied: int
    mass_without: Fraction
    mass_with: Fraction
    mass_before_ties: Fraction
    mass_with_ties: Fraction


def levels_of(scores: FloatArray, weights: FloatArray) -> Levels:
    """Levels of scores in any order; ``weights`` is the weight of each."""
    order = np.argsort(-scores)
    falling = scores[order]
    starts = np.flatnonzero(np.concatenate(([True], falling[1:] != falling[:-1])))
    counts = np.diff(np.append(starts, len(falling)))
    return Levels(falling[starts], weights[order][starts], counts)


def top_levels(scores: FloatArray, weights: FloatArray, mass: Fraction) -> Levels:
    """Levels of the top of a row that carries more than ``mass``, or of the whole row.

    ``weights``: float64 [n] in (0, 1], rising with the scores.
    """
    floor_weight = _floor_of_mass(weights, float(mass))
    if floor_weight <= 0.0:
        return levels_of(scores, weights)
    top = np.flatnonzero(weights >= floor_weight)
    return levels_of(scores[top], weights[top])


def _floor_of_mass(weights: FloatArray, mass: float) -> float:
    """A weight above which (inclusive) the mass surely exceeds ``mass``; 0 if there is none."""
    bins = (weights.view(np.int64) >> _BIN_SHIFT).astype(np.intp)
    masses = np.bincount(bins, weights=weights, minlength=_BINS)
    from_top = np.cumsum(masses[::-1])
    wanted = int(np.searchsorted(from_top, mass * (1 + 1e-9), side="right"))
    if wanted >= len(from_top):
        return 0.0
    lowest_bin = len(masses) - 1 - wanted
    return float(np.array([lowest_bin << _BIN_SHIFT], dtype=np.int64).view(np.float64)[0])


def prefix_cut(levels: Levels, mass: Fraction, exceed: bool) -> PrefixCut | None:
    """The shortest prefix with mass >= ``mass`` (``exceed``: > ``mass``); None if no prefix has."""
    cumulative = np.cumsum(levels.weights * levels.counts)
    level = min(int(np.searchsorted(cumulative, float(mass))), len(cumulative) - 1)
    before = levels.mass_before(level)
    while level > 0 and _reached(before, mass, exceed):
        level -= 1
        before -= int(levels.counts[level]) * Fraction(float(levels.weights[level]))
    while not _reached(after := before + _level_mass(levels, level), mass, exceed):
        level, before = level + 1, after
        if level == len(levels.scores):
            return None
    weight = Fraction(float(levels.weights[level]))
    missing = (mass - before) / weight
    kept = floor(missing) + 1 if exceed else max(ceil(missing), 1)
    return PrefixCut(
        score=float(levels.scores[level]),
        kept_ties=kept,
        tied=int(levels.counts[level]),
        mass_without=before + (kept - 1) * weight,
        mass_with=before + kept * weight,
        mass_before_ties=before,
        mass_with_ties=after,
    )


def _level_mass(levels: Levels, level: int) -> Fraction:
    return int(levels.counts[level]) * Fraction(float(levels.weights[level]))


def _reached(mass: Fraction, wanted: Fraction, exceed: bool) -> bool:
    return mass > wanted if exceed else mass >= wanted


def float_at_least(threshold: Fraction) -> float:
    """The smallest float64 that is >= ``threshold``: ``w >= threshold`` iff ``w >=`` it."""
    nearest = float(threshold)
    return nearest if Fraction(nearest) >= threshold else float(np.nextafter(nearest, np.inf))


def float_above(threshold: Fraction) -> float:
    """The smallest float64 that is > ``threshold``."""
    nearest = float(threshold)
    return nearest if Fraction(nearest) > threshold else float(np.nextafter(nearest, np.inf))
