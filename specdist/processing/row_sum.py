"""How far the sum of a stored probability row may lie from one, by number format and length.

A probability row that was computed in floating point does not sum to one exactly. Two things move
the sum:

- *storing*: an entry p is rounded to the format, by at most half a unit in the last place:
  ``u * p`` with ``u = 2^-precision``, or half of the smallest subnormal ``s`` where p underflows;
- *the softmax*: every entry was divided by a computed sum. A blocked or pairwise sum of V terms is
  off by at most its depth times the unit of the accumulator, here ``2 * ceil(log2 V)`` levels; the
  exponential, the division and the order of the block add a few units, here 16. The accumulator is
  float32, or float64 for float64 rows: no engine sums a softmax in 16 bits.

Together ``|sum - 1| <= sum * (u + (2 * ceil(log2 V) + 16) * a) + V * s / 2`` with ``a = 2^-24``
(``2^-53`` for float64). A kernel that adds all V terms in sequence can exceed this; its rows are
refused with the exact difference, and ``--normalise`` is the repair. Decimals have no allowance.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction

from specdist.model.row import NumberFormat


class Sums(StrEnum):
    """What to do with a probability row whose sum is not one."""

    STRICT = "strict"
    """Refuse it, unless the rounding of its format explains the sum."""
    RESCALED = "rescaled"
    """Divide by the sum, and say so."""
    OWN = "own"
    """Take it as it is: the law carries its sum."""


@dataclass(frozen=True, slots=True)
class Rounding:
    """Unit roundoff, smallest positive subnormal and the unit of the softmax accumulator."""

    unit: Fraction
    subnormal: Fraction
    accumulator: Fraction


def _power(exponent: int) -> Fraction:
    return Fraction(1, 2**-exponent)


ROUNDING = {
    NumberFormat.FLOAT16: Rounding(_power(-11), _power(-24), _power(-24)),
    NumberFormat.BFLOAT16: Rounding(_power(-8), _power(-133), _power(-24)),
    NumberFormat.FLOAT32: Rounding(_power(-24), _power(-149), _power(-24)),
    NumberFormat.FLOAT64: Rounding(_power(-53), _power(-1074), _power(-53)),
}


PRECISION = {
    NumberFormat.FLOAT16: 11,
    NumberFormat.BFLOAT16: 8,
    NumberFormat.FLOAT32: 24,
    NumberFormat.FLOAT64: 53,
    NumberFormat.DECIMAL: 53,
}
"""Significant bits of each format; a float array said to hold decimals holds float64 values."""


def sum_allowance(numbers: NumberFormat, size: int, total: Fraction) -> Fraction:
    """The largest ``|total - 1|`` that rounding explains; 0 for decimals (module docstring)."""
    if numbers is NumberFormat.DECIMAL:
        return Fraction(0)
    rounding = ROUNDING[numbers]
    return (
        total * (rounding.unit + softmax_units(size) * rounding.accumulator)
        + size * rounding.subnormal / 2
    )


def softmax_units(size: int) -> int:
    """Units of the accumulator by which a computed softmax over ``size`` terms may be scaled."""
    return 2 * max(size - 1, 0).bit_length() + 16
