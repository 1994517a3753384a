"""Products and quotients of float64 arrays: the two places where the linear algebra is left."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]

_SPLITTER = 2.0**27 + 1.0


def multiply_exactly(
    first: FloatArray, second: FloatArray
) -> tuple[FloatArray, FloatArray, Fraction]:
    """``first * second = high + low`` entry by entry (Dekker 1971, Veltkamp splitting).

    Exact for values in [0, 2**900] whose product is 0 or at least 2**-960. Below that the low
    part may be cut; the third value bounds the sum of what is lost.
    """
    high = first * second
    first_high, first_low = _split(first)
    second_high, second_low = _split(second)
    low = first_low * second_low - (
        ((high - first_high * second_high) - first_low * second_high) - first_high * second_low
    )
    cut = int(np.count_nonzero((high < 2.0**-960) & (first > 0) & (second > 0)))
    return high, low, cut * Fraction(1, 2**1010)


def _split(values: FloatArray) -> tuple[FloatArray, FloatArray]:
    scaled = values * _SPLITTER
    high = scaled - (scaled - values)
    return high, values - high


def divide_rounded(
    drafted: FloatArray, target: FloatArray, tested: FloatArray, where: NDArray[np.bool_]
) -> FloatArray:
    """``drafted * (target / tested)`` where ``where`` holds, else 0.

    Two roundings: relative error at most ``2u + u**2``, u = 2**-53, as long as nothing underflows;
    an underflow costs at most 2**-1074 an entry. ``tested`` must be positive where ``where`` holds.
    """
    quotient = np.zeros_like(drafted)
    np.divide(target, tested, out=quotient, where=where)
    quotient *= drafted
    return quotient
