"""Numbers between two proven ends, and powers and exponentials that are rounded outwards."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from typing import NamedTuple

from specdist.exact.interval import Interval
from specdist.processing.logit import (
    DIGITS,
    ONE,
    POWER_BITS,
    ZERO,
    Logit,
    decimal_context,
    enclosed,
    of_logit,
)

_LONG = 400
_BITS = 160
_LOOSE = Fraction(1, 10)


class Span(NamedTuple):
    """Every number from ``least``, at least 0, to ``most``; None: nothing bounds it above."""

    least: Fraction
    most: Fraction | None

    @classmethod
    def of(cls, value: Fraction) -> Span:
        return cls(value, value)

    @property
    def closed(self) -> bool:
        """Whether one number is left."""
        return self.least == self.most

    def plus(self, other: Span) -> Span:
        most = None if self.most is None or other.most is None else self.most + other.most
        return Span(self.least + other.least, most)

    def less(self, other: Span) -> Span:
        """The difference of two numbers that is known not to be negative."""
        least = ZERO if other.most is None else max(self.least - other.most, ZERO)
        most = None if self.most is None else max(self.most - other.least, ZERO)
        return Span(least, most)

    def times(self, factor: Span) -> Span:
        most = None if self.most is None or factor.most is None else self.most * factor.most
        return Span(self.least * factor.least, most)

    def over(self, divisor: Span) -> Span:
        """The quotient by a number above 0; where its ``least`` is 0 nothing bounds it above."""
        least = ZERO if divisor.most is None else self.least / divisor.most
        most = None if self.most is None or not divisor.least else self.most / divisor.least
        return Span(least, most)

    def within(self, least: Fraction, most: Fraction | None) -> Span:
        """The part from ``least`` to ``most``, for a number that is known to lie there."""
        ends = [end for end in (self.most, most) if end is not None]
        return Span(max(self.least, least), min(ends) if ends else None)

    def short(self) -> Span:
        """The same with ends of at most 160 significant bits, rounded outwards."""
        most = None if self.most is None else -_floor(-self.most)
        return Span(_floor(self.least), most)


def most_of(span: Span) -> Fraction:
    """The upper end of a span. Raises OverflowError where nothing bounds it."""
    if span.most is None:
        raise OverflowError("a number that nothing bounds")
    return span.most


def interval_of(span: Span) -> Interval:
    """The interval of a span. Raises OverflowError where nothing bounds it."""
    return Interval(span.least, most_of(span))


def smaller(first: Fraction | None, second: Fraction | None) -> Fraction | None:
    """The smaller of two upper bounds; None is none."""
    if first is None or second is None:
        return second if first is None else first
    return min(first, second)


def product(count: int | None, value: Fraction | None) -> Fraction | None:
    """``count * value``; None where one of them has no bound and the other is not 0."""
    if count == 0 or value == 0:
        return ZERO
    return None if count is None or value is None else count * value


def power(value: Fraction, exponent: Fraction) -> Span:
    """``value ** exponent`` for a value of at least 0 and an exponent above 0; exact where the
    power is whole and short."""
    if value in (ZERO, ONE) or exponent == 1:
        return Span.of(value)
    bits = max(value.numerator.bit_length(), value.denominator.bit_length())
    if exponent.denominator == 1 and exponent * bits <= POWER_BITS:
        return Span.of(value ** int(exponent))
    return _exponential(Logit(exponent, value, ZERO))


def exponential(value: Fraction) -> Span:
    """``exp(value)``."""
    return Span.of(ONE) if not value else _exponential(of_logit(value))


def logarithm_above(value: Fraction) -> Fraction:
    """A rational number at or above ``ln(value)``, by no more than about 1e-35 times its size."""
    found, error = enclosed(Logit(ONE, value, ZERO), DIGITS[0])
    return -_floor(-(Fraction(found) + Fraction(error)))


def _exponential(logit: Logit) -> Span:
    """The argument is off by its error, ``exp`` by one unit of its last digit."""
    for digits in DIGITS:
        argument, error = enclosed(logit, digits)
        slack = Fraction(error) + Fraction(2, 10 ** (digits - 1))
        if slack <= _LOOSE:
            break
    else:
        return Span(ZERO, None) if argument > 0 else Span(ZERO, ONE)
    value = argument.exp(decimal_context(digits))
    if value == Decimal(0):
        return Span(ZERO, Fraction(1, 2**1074))
    exact = Fraction(value)
    return Span(exact * (1 - 2 * slack), exact * (1 + 2 * slack)).short()


def _floor(value: Fraction) -> Fraction:
    """``value`` where it is short, else the next number of 160 bits towards minus infinity."""
    if value.denominator.bit_length() + value.numerator.bit_length() <= _LONG:
        return value
    size = value.numerator.bit_length() - value.denominator.bit_length()
    scale = Fraction(2) ** (_BITS - size)
    scaled = value * scale
    return Fraction(scaled.numerator // scaled.denominator) / scale
