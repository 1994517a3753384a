"""Fractions as decimals of a chosen precision, for logarithms and exponentials."""

from __future__ import annotations

from decimal import Context, Decimal
from fractions import Fraction


def decimal_context(digits: int) -> Context:
    """A context whose ln and exp are correctly rounded to ``digits``; underflow gives 0."""
    return Context(prec=digits, Emin=-(10**15), Emax=10**15, traps=[])


def as_decimal(value: Fraction, context: Context) -> Decimal:
    """``value`` rounded to the context's digits, off by at most 2 units (relative)."""
    return context.divide(Decimal(value.numerator), Decimal(value.denominator))
