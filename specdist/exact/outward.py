"""The ends of intervals as decimals and floats, rounded away from the interval."""

from __future__ import annotations

import math
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction

_PLAIN_FROM = -5
"""Smaller numbers, by their decimal exponent, are written with an exponent."""


def outward_text(value: Fraction, up: bool, digits: int = 6) -> str:
    """``value`` with ``digits`` significant digits, rounded up or down: ``0.704166``, ``3.2e-9``.

    The rational that the text stands for is never below ``value`` with ``up``, never above without.
    """
    rounding = ROUND_CEILING if up else ROUND_FLOOR
    context = Context(prec=digits, rounding=rounding, Emin=-(10**9), Emax=10**9)
    rounded = context.divide(Decimal(value.numerator), Decimal(value.denominator))
    if not rounded or rounded == rounded.to_integral_value():
        return f"{rounded:.0f}"
    if rounded.adjusted() >= _PLAIN_FROM:
        return f"{rounded:f}"
    sign, figures, _ = rounded.as_tuple()
    first, rest = str(figures[0]), "".join(map(str, figures[1:])).rstrip("0")
    return f"{'-' if sign else ''}{first}{'.' if rest else ''}{rest}e{rounded.adjusted()}"


def outward_float(value: Fraction, up: bool) -> float:
    """The nearest float64 on the outer side of ``value``, or ``value`` itself."""
    nearest = float(value)
    inside = Fraction(nearest) < value if up else Fraction(nearest) > value
    return math.nextafter(nearest, math.inf if up else -math.inf) if inside else nearest
