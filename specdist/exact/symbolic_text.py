"""Closed forms as text: ``(1 + 2e)/(1 + e + e^3)``, fractional exponents as ``e^(1/2)``.

sympy cancels common factors and is imported only when there is something to cancel.
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from math import gcd, lcm
from typing import Any

from specdist.exact.symbolic_ratio import ExponentialRatio
from specdist.exact.symbolic_sum import ExponentialSum, common_step

MAX_TERMS = 200
MAX_DEGREE = 1500
MAX_NUMBER_BITS = 2000


def closed_form(ratio: ExponentialRatio, max_terms: int = MAX_TERMS) -> str | None:
    """The value as a quotient of sums of powers of e with integer coefficients.

    Exponents are shifted so that the smaller of the two lowest exponents of numerator and
    denominator is 0; factors common to both cancel when, in the variable exp(g) for the greatest
    common step g of all exponents, the degrees are at most `MAX_DEGREE`. A rational value is a
    fraction. None when the form would have more than ``max_terms`` terms or numbers of more than
    `MAX_NUMBER_BITS` bits. Two equal values may print differently only beyond `MAX_DEGREE`.
    """
    exact = ratio.as_rational()
    if exact is not None:
        return str(exact) if _fits(exact) else None
    over, under = _cancel(*_divide_out(ratio))
    if under.sign() < 0:
        over, under = -over, -under
    shift = -min(over.bottom, under.bottom)
    over, under = over.scale(1, shift), under.scale(1, shift)
    if len(over) + len(under) > max_terms:
        return None
    over, under = _clear(over, under)
    numbers = [x for r, c in over.terms + under.terms for x in (r, c)]
    if not all(_fits(x) for x in numbers):
        return None
    if under.terms == ((Fraction(0), Fraction(1)),):
        return _polynomial(over)
    return f"{_atom(over, len(over) == 1)}/{_atom(under, _single(under))}"


def _fits(value: Fraction) -> bool:
    return max(value.numerator.bit_length(), value.denominator.bit_length()) <= MAX_NUMBER_BITS


def _divide_out(ratio: ExponentialRatio) -> tuple[ExponentialSum, ExponentialSum]:
    """Numerator and denominator without the whole factors that divide the numerator."""
    over, left = ratio.numerator, []
    for factor, power in ratio.factors:
        for _ in range(power):
            smaller = over.quotient(factor)
            if smaller is None:
                left.append(factor)
            else:
                over = smaller
    under = ExponentialSum.constant(1)
    for factor in left:
        under = under * factor
    return over, under


def _cancel(over: ExponentialSum, under: ExponentialSum) -> tuple[ExponentialSum, ExponentialSum]:
    """Both divided by their greatest common divisor as polynomials in exp(step)."""
    if len(over) == 1 or len(under) == 1:
        return over, under
    low, base = over.bottom, under.bottom
    step = common_step([r - low for r, _ in over.terms] + [r - base for r, _ in under.terms])
    if max(over.top - low, under.top - base) > MAX_DEGREE * step:
        return over, under
    import sympy

    variable = sympy.Symbol("t")
    pair = [_poly(sympy, variable, side, step) for side in (over, under)]
    numerator, denominator = pair[0].cancel(pair[1], include=True)
    return _sum(numerator, step, low), _sum(denominator, step, base)


def _poly(sympy: Any, variable: Any, side: ExponentialSum, step: Fraction) -> Any:
    bottom = side.bottom
    terms = {
        (int((r - bottom) / step),): sympy.Rational(c.numerator, c.denominator)
        for r, c in side.terms
    }
    return sympy.Poly.from_dict(terms, variable, domain=sympy.QQ)


def _sum(poly: Any, step: Fraction, bottom: Fraction) -> ExponentialSum:
    return ExponentialSum(
        {
            degree * step + bottom: Fraction(int(value.p), int(value.q))
            for (degree,), value in poly.terms()
        }
    )


def _clear(over: ExponentialSum, under: ExponentialSum) -> tuple[ExponentialSum, ExponentialSum]:
    """Both scaled to integer coefficients without a common divisor."""
    both = [c for _, c in over.terms + under.terms]
    unit = lcm(*(c.denominator for c in both))
    factor = Fraction(unit, gcd(*(int(c * unit) for c in both)))
    return over.scale(factor), under.scale(factor)


def _atom(side: ExponentialSum, bare: bool) -> str:
    text = _polynomial(side)
    return text if bare else f"({text})"


def _single(side: ExponentialSum) -> bool:
    """Whether the sum stands behind a slash without brackets: ``3`` and ``e^2``, not ``2e``."""
    exponent, coefficient = side.terms[0]
    return len(side) == 1 and (not exponent or coefficient == 1)


def _polynomial(side: ExponentialSum) -> str:
    rising = list(reversed(side.terms))
    if rising[0][1] < 0 and any(c > 0 for _, c in rising):
        rising.reverse()
    return _joined(rising)


def _joined(terms: Iterable[tuple[Fraction, Fraction]]) -> str:
    text = ""
    for exponent, coefficient in terms:
        sign = "-" if coefficient < 0 else "+"
        lead = ("-" if sign == "-" else "") if not text else f" {sign} "
        text += lead + _term(exponent, abs(coefficient))
    return text


def _term(exponent: Fraction, coefficient: Fraction) -> str:
    if not exponent:
        return str(coefficient)
    power = "e"
    if exponent != 1:
        power = f"e^{exponent}" if exponent.denominator == 1 else f"e^({exponent})"
    return power if coefficient == 1 else f"{coefficient}{power}"
