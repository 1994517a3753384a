"""Exact logits in closed form, and their order.

A logit is ``z = power * ln(base) + shift`` with rational power, base and shift. Captured logits
have power 0; captured probabilities have power 1, base the probability, shift 0. Temperature,
bias and penalties stay inside this form, so nothing is rounded before the weights are taken.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from functools import cmp_to_key, lru_cache
from typing import NamedTuple

from specdist.exact.decimals import as_decimal as as_decimal
from specdist.exact.decimals import decimal_context as decimal_context

ONE = Fraction(1)
ZERO = Fraction(0)
DIGITS = (40, 80, 160, 320)
POWER_BITS = 1 << 15
"""The longest exact power, in bits; longer ones are compared and weighed by enclosure."""


class Logit(NamedTuple):
    """``power * ln(base) + shift``; power >= 0, base > 0."""

    power: Fraction
    base: Fraction
    shift: Fraction

    def plus(self, change: Fraction) -> Logit:
        return Logit(self.power, self.base, self.shift + change)

    def times(self, factor: Fraction) -> Logit:
        return Logit(self.power * factor, self.base, self.shift * factor)


def of_logit(value: Fraction) -> Logit:
    """A captured logit or log-probability."""
    return Logit(ZERO, ONE, value)


def of_probability(value: Fraction) -> Logit:
    """``ln`` of a positive probability."""
    return Logit(ONE, value, ZERO)


@lru_cache(maxsize=65_536)
def enclosed(logit: Logit, digits: int) -> tuple[Decimal, Decimal]:
    """The value of a logit to about ``digits`` digits, and how far off it may be.

    ``ln`` of the rounded base is off by 2 units of the base's last place plus 1 of its own; every
    further operation adds 1. ``10^(4 - digits)`` times the magnitudes covers all of it.
    """
    context = decimal_context(digits)
    logarithm = as_decimal(logit.base, context).ln(context)
    power, shift = as_decimal(logit.power, context), as_decimal(logit.shift, context)
    product = context.multiply(power, logarithm)
    magnitude = context.add(context.add(abs(product), abs(shift)), context.add(power, Decimal(1)))
    error = context.multiply(magnitude, Decimal(10) ** (4 - digits))
    return context.add(product, shift), error


def compare(left: Logit, right: Logit) -> int:
    """-1, 0 or 1 as left is smaller than, equal to or larger than right, exactly.

    Different shifts and equal values would make e^rational algebraic (Lindemann), so equality
    needs equal shifts and ``base^power`` equal, which integer powers decide. Values that neither
    320 digits nor an exact power of 32,768 bits separates count as equal.
    """
    if left.power == right.power:
        if left.shift == right.shift:
            return _sign(left.base, right.base) if left.power else 0
        if not left.power or left.base == right.base:
            return _sign(left.shift, right.shift)
    for digits in DIGITS:
        one, error = enclosed(left, digits)
        other, other_error = enclosed(right, digits)
        if abs(one - other) > 2 * (error + other_error):
            return _sign(one, other)
        if digits == DIGITS[0] and left.shift == right.shift and _same_power(left, right):
            return 0
    return 0


def sign(logit: Logit) -> int:
    """The sign of a logit's value, exactly (as far as `compare` is)."""
    return compare(logit, of_logit(ZERO))


def _sign(left: Fraction | Decimal, right: Fraction | Decimal) -> int:
    return (left > right) - (left < right)


def _same_power(left: Logit, right: Logit) -> bool:
    common = math.lcm(left.power.denominator, right.power.denominator)
    exponents = [int(logit.power * common) for logit in (left, right)]
    bits = [
        exponent * max(logit.base.numerator.bit_length(), logit.base.denominator.bit_length())
        for exponent, logit in zip(exponents, (left, right), strict=True)
    ]
    if max(bits) > POWER_BITS:
        return False
    return bool(left.base ** exponents[0] == right.base ** exponents[1])


def ranked(logits: Mapping[int, Logit]) -> list[list[int]]:
    """Token ids in groups of equal logits, the largest first, rising ids within a group."""
    key = _plain_key(list(logits.values()))
    if key is None:
        falling = cmp_to_key(_falling)
        order = sorted(logits, key=lambda token: falling(logits[token]))
        groups: list[list[int]] = []
        for token in order:
            if groups and compare(logits[groups[-1][0]], logits[token]) == 0:
                groups[-1].append(token)
            else:
                groups.append([token])
        return [sorted(group) for group in groups]
    by_value: dict[Fraction, list[int]] = {}
    for token, logit in logits.items():
        by_value.setdefault(logit[key], []).append(token)
    return [by_value[value] for value in sorted(by_value, key=_ordered, reverse=True)]


def largest(logits: Mapping[int, Logit]) -> Logit:
    """The largest of the logits."""
    key = _plain_key(list(logits.values()))
    if key is None:
        return max(logits.values(), key=cmp_to_key(compare))
    return max(logits.values(), key=lambda logit: _ordered(logit[key]))


def _ordered(value: Fraction) -> tuple[float, Fraction]:
    """A sort key equal in effect to the value: rounding keeps order, so only ties look further."""
    try:
        return float(value), value
    except OverflowError:
        return (math.inf if value > 0 else -math.inf), value


def _plain_key(logits: Sequence[Logit]) -> int | None:
    """The index of the one field that orders these logits, if one field does."""
    first = logits[0]
    if all(logit.power == first.power and logit.shift == first.shift for logit in logits):
        return 1 if first.power else 2
    if all(not logit.power for logit in logits):
        return 2
    return None


def _falling(left: Logit, right: Logit) -> int:
    return compare(right, left)


def exact_sum(values: Iterable[Fraction]) -> Fraction:
    """The sum of fractions over one shared denominator."""
    fractions = list(values)
    shared = math.lcm(*{value.denominator for value in fractions})
    return Fraction(
        sum(value.numerator * (shared // value.denominator) for value in fractions), shared
    )
