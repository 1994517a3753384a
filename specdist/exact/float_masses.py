"""Sums of non-negative float64 arrays, rounded outwards.

numpy adds each block of 512 in an order of its own choosing, with a relative error of at most
``511 u``, u = 2**-53, whatever the order; the block sums are added with one rounding. So 520 u
covers the whole. Sums of subnormal numbers do not round at all.
"""

from __future__ import annotations

from fractions import Fraction
from math import fsum, inf, nextafter

import numpy as np
from numpy.typing import NDArray

from specdist.exact.float_sum import exact_sum
from specdist.exact.interval import Interval
from specdist.exact.law import FloatLaw
from specdist.exact.partial_law import PartialLaw
from specdist.exact.partial_masses import Box, free_scale

FloatArray = NDArray[np.float64]

_BLOCK = 512
_WIDE = 520 * 2.0**-53
_DEEP = 2.0**-960
_SAYS_NOTHING = Fraction(1, 100)


def sum_down(values: FloatArray) -> Fraction:
    """At most ``sum values``."""
    return Fraction(_sum(values) * (1 - 2 * _WIDE))


def sum_up(values: FloatArray) -> Fraction:
    """At least ``sum values``."""
    return Fraction(_sum(values) * (1 + 2 * _WIDE))


def sums(law: PartialLaw) -> Box:
    """The box of all listed tokens, ``low`` rounded down and ``high`` up."""
    low, high = bounds(law)
    return Box(sum_down(low), sum_up(high))


def emptied(law: PartialLaw) -> int | None:
    """The first listed token whose bounds leave nothing, or are no numbers."""
    low, high = np.asarray(law.low), np.asarray(law.high)
    bad = np.flatnonzero(~((low >= 0) & (low <= high) & (high < np.inf)))
    return int(law.ids[bad[0]]) if len(bad) else None


def bounds(law: PartialLaw) -> tuple[FloatArray, FloatArray]:
    """``low`` and ``high`` as float64, fractions rounded outwards."""
    low, high = law.low, law.high
    if isinstance(low, tuple):
        low = np.array([float_down(value) for value in low])
    if isinstance(high, tuple):
        high = np.array([float_up(value) for value in high])
    return low, high


def float_down(value: Fraction) -> float:
    """The largest float64 that is not above ``value``, a number that is not negative."""
    near = float(value)
    return near if Fraction(near) <= value else nextafter(near, 0.0)


def float_up(value: Fraction) -> float:
    """The smallest float64 that is not below ``value``."""
    near = float(value)
    return near if Fraction(near) >= value else nextafter(near, inf)


def partial_of(law: FloatLaw) -> PartialLaw:
    """See `overlap_bounds.as_partial`."""
    weights = law.weights
    ids = np.arange(law.size, dtype=np.intp) if law.ids is None else law.ids
    if not weights.all():
        kept = weights > 0
        ids, weights = ids[kept], weights[kept]
    if not law.bound:
        return PartialLaw(ids, weights, weights, 0, scale=Interval.of(1 / exact_sum(weights)))
    if law.bound >= _SAYS_NOTHING:
        return PartialLaw(ids, np.zeros(len(ids)), np.ones(len(ids)), 0)
    low = np.nextafter(weights * float_down(1 / (1 + law.bound)), 0.0)
    high = np.nextafter(weights * float_up(1 / (1 - law.bound)), np.inf)
    deep = weights < _DEEP
    if deep.any():
        low, high = np.where(deep, 0.0, low), np.where(deep, 2 * _DEEP, high)
    return PartialLaw(ids, low, high, 0, scale=free_scale(Box(sum_down(low), sum_up(high))))


def _sum(values: FloatArray) -> float:
    whole = len(values) // _BLOCK * _BLOCK
    parts = values[:whole].reshape(-1, _BLOCK).sum(axis=1).tolist()
    return fsum([*parts, float(values[whole:].sum())])
