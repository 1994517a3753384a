"""The sign of ``sum_k c_k a_k(x)`` for every token x: a float64 filter with a proven bound.

Let ``d_k = fl(2**s c_k)``, correctly rounded, with s chosen so that the smallest ``|d_k|`` is at
least 2**60. Then ``d_k a_k(x)`` neither underflows (a float64 is 0 or at least 2**-1074 in size)
nor loses relative accuracy, and with u = 2**-53 each computed product is
``2**s c_k a_k (1 + e)``, ``|e| <= 2u + u**2``. Adding m products in float64 gives
``|computed - 2**s v(x)| <= ((m - 1) u + 3 u) (1 + m u) sum_k |d_k a_k(x)|``, which is below
``(m + 3) u`` times the *computed* sum of absolute values for m up to a million, plus a factor
``1 + m u`` of slack that the constant ``2 (m + 3) u`` used here covers twice over. So a computed
value larger than ``2 (m + 3) u`` times the computed absolute sum has the right sign; the others
are decided one by one with fractions. A token at which every atom is 0 has the exact sign 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from specdist.exact.float_sum import BLOCK

Term = tuple[NDArray[np.float64], Sequence[NDArray[np.bool_]], Fraction]


class Signs(NamedTuple):
    """Where a vector is positive and where it is negative, bool [n] each."""

    positive: NDArray[np.bool_]
    negative: NDArray[np.bool_]


def exact_sign_sets(size: int, terms: Sequence[Term]) -> Signs:
    """Signs of ``sum_k c_k a_k(x) [x in all masks of k]`` for x = 0 ... size - 1, exactly."""
    positive = np.zeros(size, dtype=np.bool_)
    negative = np.zeros(size, dtype=np.bool_)
    if not terms:
        return Signs(positive, negative)
    factors = _scaled_factors([coefficient for _, _, coefficient in terms])
    slack = 2 * (len(terms) + 3) * 2.0**-53
    for start in range(0, size, BLOCK):
        block = slice(start, min(start + BLOCK, size))
        total, magnitude = _approximate(terms, factors, block)
        magnitude *= slack
        np.greater(total, magnitude, out=positive[block])
        np.less(total, -magnitude, out=negative[block])
        unsure = ~(positive[block] | negative[block])
        unsure &= magnitude > 0
        for entry in (np.flatnonzero(unsure) + start).tolist():
            value = _exact_entry(terms, entry)
            positive[entry], negative[entry] = value > 0, value < 0
    return Signs(positive, negative)


def _scaled_factors(coefficients: Sequence[Fraction]) -> list[float]:
    smallest = min(abs(c) for c in coefficients)
    shift = 62 - (smallest.numerator.bit_length() - smallest.denominator.bit_length())
    scale = Fraction(2) ** shift
    return [float(c * scale) for c in coefficients]


def _approximate(
    terms: Sequence[Term], factors: Sequence[float], block: slice
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    total = np.zeros(block.stop - block.start)
    magnitude = np.zeros_like(total)
    product = np.empty_like(total)
    for (values, masks, _), factor in zip(terms, factors, strict=True):
        np.multiply(values[block], factor, out=product)
        for mask in masks:
            product *= mask[block]
        total += product
        magnitude += np.abs(product, out=product)
    return total, magnitude


def _exact_entry(terms: Sequence[Term], entry: int) -> Fraction:
    value = Fraction(0)
    for values, masks, coefficient in terms:
        if all(mask[entry] for mask in masks):
            value += coefficient * Fraction(float(values[entry]))
    return value
