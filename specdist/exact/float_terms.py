"""Products and quotients of float64 arrays: the two places where the linear algebra is left."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from specdist.exact.float_sum import BLOCK

FloatArray = NDArray[np.float64]

_SPLITTER = 2.0**27 + 1.0


def multiply_exactly(
    first: FloatArray, second: FloatArray
) -> tuple[FloatArray, FloatArray, Fraction]:
    """``first * second = high + low`` entry by entry (Dekker 1971, Veltkamp splitting).

    Exact for values in [0, 2**900] whose product is 0 or at least 2**-960. Below that the low
    part may be cut; the third value bounds the sum of what is lost.
    """
    high, low = np.empty_like(first), np.empty_like(first)
    buffers = np.empty((5, min(len(first), BLOCK)))
    for start in range(0, len(first), BLOCK):
        block = slice(start, min(start + BLOCK, len(first)))
        _multiply_block(first[block], second[block], high[block], low[block], buffers)
    cut = 0
    if len(high) and high.min() < 2.0**-960:
        cut = int(np.count_nonzero((high < 2.0**-960) & (first > 0) & (second > 0)))
    return high, low, cut * Fraction(1, 2**1010)


def _multiply_block(
    first: FloatArray, second: FloatArray, high: FloatArray, low: FloatArray, buffers: FloatArray
) -> None:
    """``low = fl * sl - (((high - fh * sh) - fl * sh) - fh * sl)`` with h and l the halves."""
    first_high, first_low, second_high, second_low, product = (
        buffer[: len(first)] for buffer in buffers
    )
    _split(first, first_high, first_low)
    _split(second, second_high, second_low)
    np.multiply(first, second, out=high)
    np.multiply(first_high, second_high, out=product)
    np.subtract(high, product, out=low)
    np.multiply(first_low, second_high, out=product)
    low -= product
    np.multiply(first_high, second_low, out=product)
    low -= product
    np.multiply(first_low, second_low, out=product)
    np.subtract(product, low, out=low)


def _split(values: FloatArray, high: FloatArray, low: FloatArray) -> None:
    np.multiply(values, _SPLITTER, out=high)
    np.subtract(high, values, out=low)
    high -= low
    np.subtract(values, high, out=low)


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
