"""Float64 weights of exact logits: the one rounding of the rational path, with its bound."""

from __future__ import annotations

import math
from collections.abc import Mapping
from decimal import Decimal
from fractions import Fraction
from typing import NamedTuple

from specdist.processing.logit import (
    DIGITS,
    POWER_BITS,
    ZERO,
    Logit,
    decimal_context,
    enclosed,
    exact_sum,
    largest,
)

_ARGUMENT_ERROR = Decimal("1e-25")
SMALLEST = Fraction(1, 2**1074)
"""The smallest positive float64: the weight of a finite logit that underflows."""


class Weights(NamedTuple):
    """Exact positive weights per token and their bound against the real-valued weights.

    The total of ``|w - w_real|`` is at most ``bound`` times the total weight; every weight above
    2^-1022 is also within ``bound`` of its real value, relatively.
    """

    by_token: dict[int, Fraction]
    bound: Fraction

    @property
    def total(self) -> Fraction:
        return exact_sum(self.by_token.values())


def weights(logits: Mapping[int, Logit]) -> Weights:
    """The weights ``exp(z - max z)``, in the order of the tokens.

    Exact when all logits are whole powers of rationals (probabilities, temperature 1/n) or equal.
    Otherwise each is ``math.exp`` of the exact argument rounded once to float64. With argument a,
    the rounding moves the exponential by at most ``|a| 2^-53`` (relative, doubled below for the
    second order) and ``math.exp`` by at most one unit, 2^-52; an argument of 0 is exact. A weight
    below 2^-1022 is off by at most 2^-1074 and is never 0: these are summed into the bound, the
    largest weight being 1.
    """
    top = largest(logits)
    exact = _exact_weights(logits, top)
    if exact is not None:
        return Weights(exact, ZERO)
    by_token: dict[int, Fraction] = {}
    steepest, tiny = 0.0, 0
    for token, logit in logits.items():
        argument = _argument(logit, top)
        weight = math.exp(argument) if argument > -750 else 0.0
        if weight < 2.0**-1022:
            tiny += 1
            by_token[token] = Fraction(weight) or SMALLEST
        else:
            steepest = max(steepest, -argument)
            by_token[token] = Fraction(weight)
    bound = Fraction(steepest) / 2**52 + Fraction(1, 2**52) if steepest else ZERO
    return Weights(by_token, bound + tiny * SMALLEST)


def _exact_weights(logits: Mapping[int, Logit], top: Logit) -> dict[int, Fraction] | None:
    """``base^power`` where every power is whole and short, and the shifts cancel."""
    for z in logits.values():
        longest = max(z.base.numerator.bit_length(), z.base.denominator.bit_length())
        if z.shift != top.shift or z.power.denominator != 1:
            return None
        if z.power > 1 and z.power * longest > POWER_BITS:
            return None
    return {token: z.base ** int(z.power) for token, z in logits.items()}


def _argument(logit: Logit, top: Logit) -> float:
    """``z - max z``, rounded once to float64; -inf where it is far below every float64 exp."""
    if not logit.power and not top.power:
        difference = logit.shift - top.shift
        return _rounded(difference) if difference > -800 else -math.inf
    if logit == top:
        return 0.0
    gap = Decimal(0)
    for digits in DIGITS:
        one, error = enclosed(logit, digits)
        other, other_error = enclosed(top, digits)
        gap = decimal_context(digits).subtract(one, other)
        if error + other_error <= abs(gap) * _ARGUMENT_ERROR:
            break
    return _rounded(min(gap, Decimal(0)))


def _rounded(argument: Fraction | Decimal) -> float:
    """The nearest float64; never 0 for a negative argument, which would pass for a tie."""
    return min(float(argument), -5e-324) if argument < 0 else 0.0
