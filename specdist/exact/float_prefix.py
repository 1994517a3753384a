"""Prefix sums of float64 arrays of non-negative numbers, with a bound on their relative error.

A running sum of n terms in a row is off by at most ``(n - 1) u`` of its value, u = 2**-53. Rows of
a few hundred terms are summed on their own, and then the sums of the rows before them are added, so
a prefix sum of V terms is off by ``(width + rows + 1) u``, about ``2 sqrt(V) u``.
"""

from __future__ import annotations

from fractions import Fraction
from math import isqrt

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
_UNIT = Fraction(1, 2**53)


def prefix_error(size: int) -> Fraction:
    """The bound for arrays of this length."""
    width = _width(size)
    return (width + -(-size // width) + 4) * _UNIT


def prefix_sums(values: FloatArray) -> FloatArray:
    """``values[0] + ... + values[i]`` for every i, within ``prefix_error(len(values))``."""
    size = len(values)
    width = _width(size)
    rows = -(-size // width)
    padded = np.zeros(rows * width)
    padded[:size] = values
    sums = np.cumsum(padded.reshape(rows, width), axis=1)
    sums[1:] += np.cumsum(sums[:-1, -1])[:, None]
    return sums.reshape(-1)[:size]


def suffix_sums(values: FloatArray) -> FloatArray:
    """``values[i] + ... + values[-1]`` for every i, within the same bound."""
    return prefix_sums(values[::-1])[::-1]


def _width(size: int) -> int:
    return max(isqrt(size), 1)
