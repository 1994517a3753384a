"""Exact sums of float64 arrays, without a big integer per element.

Method (error-free extraction, after Rump, Ogita and Oishi, "Accurate floating-point summation",
SIAM J. Sci. Comput. 31, 2008, algorithm ExtractVector). Let ``|a_i| <= 2**e``, let the
multiplicities ``m_i >= 0`` be integers with ``sum m_i <= 2**M``, ``M <= 40``, and
``sigma = 2**(e + M)``, ``g = 2**(e + M - 53)``. Then for ``q_i = fl(fl(sigma + a_i) - sigma)``

1. ``q_i`` is ``a_i`` rounded to a multiple of 2 g (of g where a_i < 0, below the power of two), so
   ``|q_i| <= 2**e``, a multiple of g itself; ``a_i - q_i`` has bits of ``a_i`` only, is therefore
   exact in float64, and is at most g = 2**(e + M - 53) in size;
2. every partial sum of ``m_i q_i``, in any order, is a multiple of g and at most
   ``2**M * 2**e = 2**53 g`` in size, hence a float64: plain float64 sums and BLAS dot products of q
   with the multiplicities do not round, whatever their order.

Repeating on ``a - q`` with ``e + M - 53`` in place of e gains ``53 - M`` bits a pass and ends when
the rest is zero. Where g would lie below the subnormal unit ``2**-1074`` that unit takes its place
and both statements hold a fortiori. The part sums of all blocks with one sigma add up without
rounding for the same reason, and the few float64 numbers that remain are added as integers.

Where all values are at least some positive a, they are multiples of ``2**G``, the unit in the last
place of a. Once ``g <= 2**G`` the rest needs no rounding: it is a part itself, and the last.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import frexp, ldexp

import numpy as np
from numpy.typing import NDArray

BLOCK = 16_384
"""Elements a pass works on at a time: the buffers stay in the cache."""

_DOT_LENGTH = 8_192
"""A BLAS dot product of this length starts no threads."""

_PASSES_BEFORE_LOOKING = 3
_SUBNORMAL_EXPONENT = 1074
_LARGEST_EXPONENT = 960

FloatArray = NDArray[np.float64]


def exact_sum(values: FloatArray) -> Fraction:
    """``sum values[i]``, exactly. ``values``: float64 [n], finite, any signs."""
    return exact_dots(values, [None])[0]


def exact_dots(
    values: FloatArray,
    multiplicities: Sequence[NDArray[np.generic] | None],
    count: int | None = None,
    largest: float | None = None,
) -> list[Fraction]:
    """``sum_i multiplicities[k][i] * values[i]`` for every k, exactly.

    ``values``: float64 [n], finite, below 2**960; ``largest`` a bound on their size, where one is
    known. Each multiplicity array has shape [n] and holds non-negative integers (or booleans) that
    sum to at most ``count`` (default n); None means one each. Raises ValueError when a value is not
    finite or too large.
    """
    largest = _largest(values) if largest is None else largest
    if largest == 0.0:
        return [Fraction(0)] * len(multiplicities)
    log_count = max((len(values) if count is None else count) - 1, 1).bit_length()
    mantissa, exponent = frexp(largest)
    sigmas = _sigmas(exponent - (mantissa == 0.5), log_count, _grid(values))
    buffers = _Buffers(min(len(values), BLOCK))
    sums: list[list[float]] = [[] for _ in multiplicities]
    for start in range(0, len(values), BLOCK):
        block = slice(start, min(start + BLOCK, len(values)))
        weights = [None if array is None else array[block] for array in multiplicities]
        _add_block(values[block], weights, sigmas, buffers, sums)
    return [
        Fraction(sum(map(_scaled_integer, part_sums)), 1 << _SUBNORMAL_EXPONENT)
        for part_sums in sums
    ]


class _Buffers:
    """Scratch arrays of one block, made once a call."""

    def __init__(self, length: int) -> None:
        self.part = np.empty(length)
        self.rest = np.empty(length)


def _largest(values: FloatArray) -> float:
    if len(values) == 0:
        return 0.0
    largest = max(float(values.max()), -float(values.min()))
    if not largest < ldexp(1.0, _LARGEST_EXPONENT):
        raise ValueError("exact sums need finite values below 2**960")
    return largest


def _grid(values: FloatArray) -> int:
    """The largest G known with every value a multiple of 2**G."""
    smallest = float(values.min())
    return max(frexp(smallest)[1] - 53, -_SUBNORMAL_EXPONENT) if smallest > 0 else -2000


def _sigmas(exponent: int, log_count: int, grid: int) -> list[float]:
    """The sigmas of the passes, until nothing above the subnormal unit can be left; the pass that
    takes the rest as it is has the sigma 0."""
    sigmas: list[float] = []
    while exponent >= -_SUBNORMAL_EXPONENT:
        if exponent + log_count - 53 <= grid:
            return [*sigmas, 0.0]
        sigmas.append(ldexp(1.0, exponent + log_count))
        exponent += log_count - 53
    return sigmas


def _add_block(
    values: FloatArray,
    multiplicities: Sequence[NDArray[np.generic] | None],
    sigmas: Sequence[float],
    buffers: _Buffers,
    sums: Sequence[list[float]],
) -> None:
    """Adds the exact part sums of one block to those of the blocks before it."""
    length = len(values)
    rounded, rest = buffers.part[:length], buffers.rest[:length]
    weights = [None if array is None else array.astype(np.float64) for array in multiplicities]
    source = values
    for number, sigma in enumerate(sigmas):
        if sigma and number >= _PASSES_BEFORE_LOOKING and source.max() == 0.0 == source.min():
            break
        part = source
        if sigma:
            part = np.add(source, sigma, out=rounded)
            np.subtract(part, sigma, out=part)
            source = np.subtract(source, part, out=rest)
        for part_sums, weight in zip(sums, weights, strict=True):
            if number == len(part_sums):
                part_sums.append(0.0)
            part_sums[number] += _dot(part, weight)


def _dot(part: FloatArray, weight: FloatArray | None) -> float:
    if weight is None:
        return float(part.sum())
    half = _DOT_LENGTH
    return float(part[:half] @ weight[:half]) + float(part[half:] @ weight[half:])


def _scaled_integer(value: float) -> int:
    """``value * 2**1074`` as an integer; every float64 is a multiple of 2**-1074."""
    numerator, denominator = value.as_integer_ratio()
    return numerator << (_SUBNORMAL_EXPONENT + 1 - denominator.bit_length())
