"""Rounding to a float format, exactly: to nearest, ties to even, one rounding only.

A value with ``2^e <= |v| < 2^(e+1)`` is rounded to a multiple of ``2^(e + 1 - digits)``, or of the
smallest subnormal where that is coarser (IEEE 754; bfloat16 is the upper half of a float32). What
rounds beyond the largest finite value becomes infinite.
"""

from __future__ import annotations

from fractions import Fraction

from specdist.model.row import NumberFormat
from specdist.processing.row_sum import PRECISION, ROUNDING

DTYPES = (NumberFormat.FLOAT16, NumberFormat.BFLOAT16, NumberFormat.FLOAT32)
LARGEST = {
    NumberFormat.FLOAT16: Fraction(65_504),
    NumberFormat.BFLOAT16: Fraction((2**8 - 1) * 2**120),
    NumberFormat.FLOAT32: Fraction((2**24 - 1) * 2**104),
}
"""The largest finite value of each format."""
LOWEST = {numbers: 1 - ROUNDING[numbers].subnormal.denominator.bit_length() for numbers in DTYPES}
"""The exponent of the smallest subnormal: -24, -133 and -149."""


def rounded_to(value: Fraction, numbers: NumberFormat) -> Fraction | None:
    """``value`` in the format; None where it becomes infinite."""
    if not value:
        return value
    unit = Fraction(2) ** quantum(value, numbers)
    rounded = round(value / unit) * unit
    return None if abs(rounded) > LARGEST[numbers] else rounded


def quantum(value: Fraction, numbers: NumberFormat) -> int:
    """The exponent of the last place of ``value`` (not 0) in the format."""
    size = abs(value)
    exponent = size.numerator.bit_length() - size.denominator.bit_length()
    if size < Fraction(2) ** exponent:
        exponent -= 1
    return max(exponent + 1 - PRECISION[numbers], LOWEST[numbers])


def distance_to_midpoint(value: Fraction, numbers: NumberFormat) -> Fraction:
    """How far ``value`` (not 0) lies from the nearest point where its rounding changes."""
    unit = Fraction(2) ** quantum(value, numbers)
    scaled = value / unit
    return abs(scaled - (scaled.numerator // scaled.denominator) - Fraction(1, 2)) * unit


def float32_threshold(mass: Fraction) -> Fraction:
    """``1 - fl32(1 - mass)``: the threshold of a sampler that compares tails in float32."""
    tail = rounded_to(1 - mass, NumberFormat.FLOAT32)
    if tail is None:
        raise ValueError("a mass from 0 to 1 is expected")
    return 1 - tail
