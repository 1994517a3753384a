"""``exp(v(x))`` for every token, for vectors of non-negative entries.

Fractions are enclosed with 60 digits, float64 entries with `numpy.exp`; what is rounded, and what
the vector's own error makes of it, is in the error of the result.
"""

from __future__ import annotations

from decimal import Context, Decimal
from fractions import Fraction
from math import ceil, exp

from specdist.exact.rational_vector import RationalVector
from specdist.exact.vector import ExactVector

_DIGITS = 60


def exponentials(vector: ExactVector) -> ExactVector:
    """``exp(v(x))`` for every x, v at least 0."""
    if not isinstance(vector, RationalVector):
        from specdist.exact.float_exponential import float_exponentials
        from specdist.exact.float_vector import FloatVector

        if not isinstance(vector, FloatVector):
            raise TypeError("neither fractions nor float64 arrays")
        return float_exponentials(vector)
    context = Context(prec=_DIGITS, traps=[])
    known = {value: _exponential(value, context) for value in set(vector.entries)}
    values = tuple(known[value] for value in vector.entries)
    # Two roundings of 60 digits, and a slope of at most exp(max).
    rounded = sum(values, Fraction(0)) * Fraction(1, 10 ** (_DIGITS - 3))
    error = rounded if any(vector.entries) else Fraction(0)
    return RationalVector(values, error + slope(max(vector.entries)) * vector.error)


def slope(largest: Fraction) -> int:
    """An upper bound of ``exp(largest)``."""
    return ceil(exp(float(largest)) * 1.001)


def _exponential(value: Fraction, context: Context) -> Fraction:
    quotient = context.divide(Decimal(value.numerator), Decimal(value.denominator))
    return Fraction(quotient.exp(context))
