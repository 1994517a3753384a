"""The entropy ``H = -sum v ln v`` of a vector, and its entries against ``factor * exp(-H)``.

H is transcendental unless it is 0, so comparisons with it are decided by enclosures of 40 digits,
then 80, 160 and 320; that ``exp(-H)`` is a given number is proven in integers, where the powers
are small: ``exp(-H) = x`` iff ``x^N = prod v^(N v)`` with N the common denominator. Float64 entries
get one enclosure (`float_entropy`). For real-valued entries ``v (1 + e)``, ``|e| <= E <= 1/2``, H
moves by at most ``E (H + 2 sum v)``: the sum of ``v e ln v`` is at most ``E H``, that of
``v (1 + e) ln(1 + e)`` at most ``E (1 + E) sum v``. Where the entries sum to s > 1, terms of v > 1
are negative: they sum to ``-s ln s`` at least, which is above ``s (1 - s)``, and twice that is
added to H.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from decimal import Context, Decimal
from fractions import Fraction
from functools import lru_cache
from math import lcm
from typing import NamedTuple

from specdist.exact.decimals import as_decimal, decimal_context
from specdist.exact.rational_vector import RationalVector
from specdist.exact.vector import ExactVector

DIGITS = (40, 80, 160, 320)
_POWER_BITS = 1 << 19
_ZERO, _HALF = Fraction(0), Fraction(1, 2)


class Enclosure(NamedTuple):
    """``low <= x <= high``."""

    low: Fraction
    high: Fraction


class Logarithms(NamedTuple):
    """``ln v`` by value, H, and how far off any of them may be."""

    by_value: Mapping[Fraction, Decimal]
    entropy: Decimal
    error: Decimal
    context: Context


def entropy(vector: ExactVector, digits: int = DIGITS[0]) -> Enclosure:
    """H of the real-valued vector, enclosed; ``digits`` matter for fractions only."""
    if isinstance(vector, RationalVector):
        counts = _counted(vector)
        if set(counts) <= {Fraction(1)} and not vector.error:
            return Enclosure(_ZERO, _ZERO)
        found = entropy_of(counts, digits)
        middle, error = Fraction(found.entropy), Fraction(found.error)
        return widened(Enclosure(middle - error, middle + error), vector)
    from specdist.exact.float_entropy import float_entropy

    return widened(float_entropy(vector), vector)


def widened(enclosure: Enclosure, vector: ExactVector) -> Enclosure:
    """The enclosure for every vector within the error of this one."""
    total = vector.total()
    least = min(total * (1 - total), _ZERO)
    low, high = enclosure
    if vector.error > _HALF:
        low, high = least, Fraction(vector.size)
    elif vector.error:
        slack = vector.error * (high + 2 * (total - least))
        low, high = low - slack, high + slack
    return Enclosure(max(low, least), high)


def entropy_at_most(vector: ExactVector, limit: Fraction) -> bool | None:
    """Whether ``H <= limit``; None where rounding leaves it open."""
    for digits in DIGITS if isinstance(vector, RationalVector) else DIGITS[:1]:
        found = entropy(vector, digits)
        if found.high <= limit or found.low > limit:
            return found.high <= limit
    return None


def above_entropy(vector: ExactVector, factor: Fraction, cap: Fraction) -> ExactVector:
    """A vector that is positive exactly where ``v(x) > min(cap, factor exp(-H))``.

    Its error says where that is open, in the way that `ExactVector.where` reads it.
    """
    if isinstance(vector, RationalVector) and not vector.error:
        return _signs(vector, factor, cap)
    found = entropy(vector)
    low = min(cap, factor * exp_enclosed(-found.high).low)
    high = min(cap, factor * exp_enclosed(-found.low).high)
    middle = (low + high) / 2
    margin = vector - vector.constant(middle)
    return margin.widened(margin.error + (high - low) / 2)


def exp_enclosed(exponent: Fraction) -> Enclosure:
    """``exp(exponent)`` to 35 digits."""
    context = decimal_context(DIGITS[0])
    value = Fraction(as_decimal(exponent, context).exp(context))
    slack = value * (1 + abs(exponent)) / 10**35
    return Enclosure(value - slack, value + slack)


def _counted(vector: RationalVector) -> dict[Fraction, int]:
    return dict(Counter(value for value in vector.entries if value))


def _signs(vector: RationalVector, factor: Fraction, cap: Fraction) -> RationalVector:
    counts = _counted(vector)
    signs = {value: 1 if value > cap else _sign(counts, value, factor) for value in counts}
    error = Fraction(1, 2**100) if None in signs.values() else _ZERO
    values = (Fraction(signs.get(value, -1) or 0) for value in vector.entries)
    return RationalVector(tuple(values), error)


def _sign(counts: dict[Fraction, int], value: Fraction, factor: Fraction) -> int | None:
    """1 where ``value > factor exp(-H)``, -1 where it is not, None where that stays open."""
    for digits in DIGITS:
        context = decimal_context(digits)
        found = _enclosed_once(tuple(counts.items()), digits)
        scale = as_decimal(factor, context).ln(context)
        margin = context.subtract(context.add(found.by_value[value], found.entropy), scale)
        error = 4 * found.error + abs(scale) * Decimal(10) ** (2 - digits)
        if abs(margin) > error:
            return 1 if margin > 0 else -1
        if exp_entropy_is(counts, value / factor):
            return -1
    return None


@lru_cache(maxsize=8)
def _enclosed_once(counts: tuple[tuple[Fraction, int], ...], digits: int) -> Logarithms:
    return entropy_of(dict(counts), digits)


def entropy_of(counts: Mapping[Fraction, int], digits: int) -> Logarithms:
    """``ln v`` and H of values, each as often as it is counted.

    ``ln`` is off by 3 units of the last place; the sum over v adds as much again. Sums of
    these need ``context``: a plain ``+`` on decimals rounds to 28 digits.
    """
    context = decimal_context(digits)
    logarithms, total = {}, Decimal(0)
    for value, count in counts.items():
        rounded = as_decimal(value, context)
        logarithms[value] = rounded.ln(context)
        mass = context.multiply(rounded, Decimal(count))
        total = context.subtract(total, context.multiply(mass, logarithms[value]))
    largest = max(map(abs, logarithms.values()))
    error = (largest + 1) * (len(counts) + 8) * Decimal(10) ** (2 - digits)
    return Logarithms(logarithms, total, error, context)


def exp_entropy_is(counts: Mapping[Fraction, int], x: Fraction, times: int = 1) -> bool:
    """Whether ``exp(-times H) = prod v^(times v)`` is x, where exact powers of a bearable size can
    tell."""
    common = lcm(*(value.denominator for value in counts))
    longest = max(x.numerator.bit_length(), x.denominator.bit_length(), common.bit_length())
    if times * common * longest > _POWER_BITS:
        return False
    above, below = x.denominator**common, x.numerator**common
    for value, count in counts.items():
        exponent = int(times * common * value * count)
        above *= value.numerator**exponent
        below *= value.denominator**exponent
    return bool(above == below)
