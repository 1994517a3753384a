"""Figures as text: exact fractions where they are short, else significant digits.

A value is never rounded onto 0 or 1: a number that differs from one by less than the digits show
is printed as ``1 - 3e-09``.
"""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass
from fractions import Fraction

from specdist.model.figure import Figure

_NEGLIGIBLE = Fraction(1, 10**30)


@dataclass(frozen=True, slots=True)
class Numerals:
    """How numbers are written: ``exact`` spells out every fraction, however long it is."""

    exact: bool = False

    def is_fraction(self, figure: Figure) -> bool:
        """True when the exact value is shown: it has a denominator of at most four digits and
        nothing was rounded on the way, or everything is to be spelled out."""
        if figure.exact is None:
            return False
        return self.exact or (figure.bound is None and figure.exact.denominator <= 9999)

    def number(self, figure: Figure, digits: int = 6) -> str:
        """``7/10``, or ``0.704166`` with ``digits`` significant digits."""
        return (
            fraction(figure.exact)
            if figure.exact is not None and self.is_fraction(figure)
            else decimal(figure, digits)
        )

    def signed(self, figure: Figure, digits: int = 6) -> str:
        """Like `number`, with a plus sign before a positive value."""
        return _with_sign(self.number(figure, digits))

    def rate(self, figure: Figure) -> str:
        """``169/240 = 0.7042``, ``1``, ``0.912345 (within 1.3e-13)`` or a closed form."""
        if figure.symbolic is not None:
            return f"{figure.symbolic} = {decimal(figure)}"
        if figure.exact is None or not self.is_fraction(figure):
            return decimal(figure) + within(figure)
        text = fraction(figure.exact)
        return text if "/" not in text else f"{text} = {_four(figure.approx)}{within(figure)}"


def fraction(value: Fraction) -> str:
    """``7/10``, in full; Python's own conversion refuses beyond 4,300 digits."""
    limit = sys.get_int_max_str_digits()
    longest = max(value.denominator.bit_length(), value.numerator.bit_length())
    if not limit or longest < 3 * limit:
        return str(value)
    sys.set_int_max_str_digits(0)
    try:
        return str(value)
    finally:
        sys.set_int_max_str_digits(limit)


def decimal(figure: Figure, digits: int = 6) -> str:
    """Significant digits of the value, never rounded onto 0 or 1."""
    exact, approx = figure.exact, figure.approx
    if exact is not None and approx == 0.0 and exact != 0:
        return f"{'-' if exact < 0 else ''}1e{_exponent(abs(exact))}"
    text = f"{approx:#.{digits}g}"
    gap = 1 - abs(Fraction(approx) if exact is None else exact)
    if approx == 0 or gap == 0:
        return f"{approx:g}"
    if abs(float(text)) != 1:
        return text
    text = f"{float(text):g}"
    size = f"{float(abs(gap)):.1g}" if float(abs(gap)) else f"1e{_exponent(abs(gap))}"
    return f"{text} {'-' if gap > 0 else '+'} {size}"


def signed_decimal(figure: Figure) -> str:
    """Four decimals with their sign, to stand beside a fraction."""
    return _with_sign(_four(figure.approx))


def within(figure: Figure) -> str:
    """The rounding bound in brackets; empty when nothing that could matter was rounded."""
    return f" (within {bound(figure.bound)})" if is_worth_a_bound(figure) else ""


def is_worth_a_bound(figure: Figure) -> bool:
    """Whether rounding entered, by an amount that a reader could ever see."""
    return figure.bound is not None and figure.bound >= _NEGLIGIBLE


def bound(value: Fraction | None) -> str:
    """A bound with two significant digits, rounded up."""
    if not value:
        return "0"
    exponent = _exponent(value) - 1
    hundredths = math.ceil(value / Fraction(10) ** exponent)
    return f"{float(hundredths):.2g}" if exponent == 0 else _scaled(hundredths, exponent)


def _scaled(digits: int, exponent: int) -> str:
    text = f"{digits}e{exponent}"
    value = float(text)
    return f"{value:.2g}" if value else text


def _exponent(value: Fraction) -> int:
    """Floor of the decimal logarithm of a positive value."""
    bits = value.numerator.bit_length() - value.denominator.bit_length()
    guess = math.floor((bits - 1) * math.log10(2))
    while value >= Fraction(10) ** (guess + 1):
        guess += 1
    return guess


def _with_sign(text: str) -> str:
    return text if text.startswith("-") or text == "0" else f"+{text}"


def _four(value: float) -> str:
    """Four decimals without trailing zeros; four significant digits below a thousandth."""
    if value and abs(value) < 1e-3:
        return f"{value:.4g}"
    return f"{value:.4f}".rstrip("0").rstrip(".")
