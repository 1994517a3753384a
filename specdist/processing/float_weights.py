"""From dumped numbers to float64 weights: decoding, and the one rounding of `exp` with its bound.

Weights of a row of logits z at temperature T are ``w(x) = fl(exp(fl((z(x) - max z) / T)))``. With
u = 2**-53 the argument a takes three roundings (the difference, T itself, the quotient), so it is
off by at most ``3.01 u |a|``, plus ``2 e / T`` when the logits carry an absolute error e already;
`numpy.exp` is trusted to 4 units in the last place, that is 8u; the exponential of 0 is 1. So the
relative error of a weight is at most ``(4 |a| + 16) u + 2.1 e / T`` as long as that is below 1/100
and the weight is at least 2**-1022. A smaller one is off by up to 2**-1074, and one below 2**-1074
is stored as 2**-1074, because a finite logit is never impossible: the largest weight is 1, so in
any sum over tokens 2**-200, added to the bound once, is more than enough for that. A quotient of
two such weights may be anything; `accepted_from` counts its whole drafted mass as error.
"""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from specdist.errors import RowError, SettingsError
from specdist.exact.float_sum import BLOCK
from specdist.exact.float_terms import multiply_exactly
from specdist.exact.rational_vector import rounded_up
from specdist.model.row import FloatValues, NumberFormat, Row

FloatArray = NDArray[np.float64]

UNIT = Fraction(1, 2**53)
SMALLEST = 2.0**-1074
_DEEPEST = 746.0
_TEMPERATURES = (Fraction(1, 10**290), Fraction(10**290))


@cache
def decoded(numbers: NumberFormat) -> FloatArray:
    """The value of each of the 65,536 codes of a 16-bit format; -0.0 decodes to 0.0."""
    codes = np.arange(65_536, dtype=np.uint16)
    with np.errstate(invalid="ignore"):
        if numbers is NumberFormat.BFLOAT16:
            values = (codes.astype(np.uint32) << 16).view(np.float32).astype(np.float64)
        else:
            values = codes.view(np.float16).astype(np.float64)
    values[0x8000] = 0.0
    values.flags.writeable = False
    return values


def sixteen_bit_codes(row: Row) -> NDArray[np.uint16] | None:
    """The bit patterns of a float16 or bfloat16 row; None for other formats."""
    if not isinstance(row.values, FloatValues):
        return None
    array = row.values.array
    if array.dtype == np.uint16:
        return array.astype(np.uint16, copy=False)
    if array.dtype == np.float16:
        return np.ascontiguousarray(array).view(np.uint16)
    return None


def float64_values(row: Row) -> FloatArray:
    """The numbers of a dumped row as float64, exactly; shape [V]."""
    if not isinstance(row.values, FloatValues):
        raise TypeError("a dumped row is needed")
    codes = sixteen_bit_codes(row)
    if codes is not None:
        return decoded(_sixteen_bit_format(row)).take(codes)
    return row.values.array.astype(np.float64)


def dumped_floats(row: Row) -> NDArray[np.floating[Any]]:
    """The numbers of a float32 or float64 row as they stand in memory, in native byte order."""
    if not isinstance(row.values, FloatValues) or row.values.array.dtype.kind != "f":
        raise TypeError("a row of float32 or float64 numbers is needed")
    array = row.values.array
    return array.astype(array.dtype.newbyteorder("="), copy=False)


def _sixteen_bit_format(row: Row) -> NumberFormat:
    array = row.values.array if isinstance(row.values, FloatValues) else None
    is_half = array is not None and array.dtype == np.float16
    return NumberFormat.FLOAT16 if is_half else NumberFormat.BFLOAT16


def sixteen_bit_table(row: Row) -> FloatArray:
    """The decoding table that belongs to `sixteen_bit_codes`."""
    return decoded(_sixteen_bit_format(row))


def refuse_not_finite(values: NDArray[np.floating[Any]], largest: float, place: str) -> None:
    """Raises RowError naming the first NaN or +inf; ``largest`` is ``values.max()``."""
    if largest < np.inf:
        return
    bad = np.flatnonzero(np.isnan(values) | (values == np.inf))
    if len(bad):
        token = int(bad[0])
        what = "NaN" if np.isnan(values[token]) else "+inf"
        raise RowError(
            f"{what} at token {token}" + (f" and {len(bad) - 1} more" if len(bad) > 1 else ""),
            place=f"{place}[{token}]",
            expected="finite numbers, or -inf for a masked token",
            advice="find out what wrote it: a row with NaN or +inf has no distribution",
        )


def softmax_weights(
    scores: NDArray[np.floating[Any]], largest: float, temperature: Fraction, score_error: Fraction
) -> tuple[FloatArray, Fraction]:
    """Weights ``exp((scores - largest) / temperature)`` and their relative bound.

    ``scores``: float64 or float32 [n], finite or -inf (weight 0), at most ``largest``.
    Raises SettingsError for a temperature outside [1e-290, 1e290].
    """
    low, high = _TEMPERATURES
    if not low <= temperature <= high:
        raise SettingsError(
            f"temperature={float(min(temperature, high)):g} is out of range",
            expected="0, or a number from 1e-290 to 1e290",
            advice="temperature 0 takes the most likely token",
        )
    weights = np.empty(len(scores))
    divisor = float(temperature)
    with np.errstate(over="ignore"):
        for start in range(0, len(scores), BLOCK):
            block = weights[start : start + BLOCK]
            np.subtract(scores[start : start + BLOCK], largest, out=block, dtype=np.float64)
            if divisor != 1.0:
                block /= divisor
            np.exp(block, out=block)
    depth = _depth(scores, largest, float(temperature))
    if depth > 708.0:
        possible = scores > -np.inf
        weights[possible & (weights < SMALLEST)] = SMALLEST
    bound = (4 * Fraction(min(depth, _DEEPEST)) + 16) * UNIT if depth else Fraction(0)
    if score_error:
        bound += Fraction(21, 10) * score_error / temperature
    return weights, rounded_up(bound + Fraction(1, 2**200)) if bound else bound


def _depth(scores: NDArray[np.floating[Any]], largest: float, temperature: float) -> float:
    """Largest size of an argument; that of a row with masked tokens need not be exact."""
    lowest = float(scores.min())
    return min((largest - lowest) / temperature, 2 * _DEEPEST)


def exact_powers(weights: FloatArray, exponent: int) -> FloatArray | None:
    """``weights ** exponent`` where float64 holds every power exactly, else None."""
    powers: FloatArray | None = None
    square = weights
    while True:
        if exponent & 1:
            powers = square if powers is None else _exact_product(powers, square)
            if powers is None:
                return None
        exponent >>= 1
        if not exponent:
            return powers
        squared = _exact_product(square, square)
        if squared is None:
            return None
        square = squared


def _exact_product(first: FloatArray, second: FloatArray) -> FloatArray | None:
    product, low, lost = multiply_exactly(first, second)
    return None if lost or low.any() else product
