"""Quotients of exponential sums, with the denominator kept as a product of positive factors.

Factors are normalised (largest exponent 0, its coefficient +1 or -1), so that rows which describe
the same law, such as logits and shifted logits, share their factor and cancel without any search.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fractions import Fraction
from functools import lru_cache

from specdist.exact.symbolic_budget import SymbolicBudgetError
from specdist.exact.symbolic_enclosure import (
    MAX_BITS,
    Interval,
    exp_interval,
)
from specdist.exact.symbolic_sum import ExponentialSum

FILTER_BITS = 96

Factors = tuple[tuple[ExponentialSum, int], ...]


class ExponentialRatio:
    """``numerator / product of factor ** power``; every factor is positive, every power >= 1."""

    __slots__ = ("factors", "numerator")

    def __init__(self, numerator: ExponentialSum, factors: Mapping[ExponentialSum, int]) -> None:
        """``factors`` must be normalised and positive: `divide` is the way to make one."""
        powers = {factor: power for factor, power in factors.items() if power}
        if numerator.is_zero():
            powers = {}
        for factor in list(powers):
            if len(factor) == len(numerator):
                whole, size, shift = numerator.monic()
                if whole == factor:
                    numerator = ExponentialSum.exp(shift, size)
                    powers[factor] -= 1
        kept = [(factor, power) for factor, power in powers.items() if power]
        self.numerator = numerator
        self.factors: Factors = tuple(sorted(kept, key=lambda item: item[0].key))

    @classmethod
    def of(cls, value: ExponentialSum | Fraction | int) -> ExponentialRatio:
        """A sum or a rational over 1."""
        if not isinstance(value, ExponentialSum):
            value = ExponentialSum.constant(value)
        return cls(value, {})

    @classmethod
    def divide(cls, numerator: ExponentialSum, denominator: ExponentialSum) -> ExponentialRatio:
        """``numerator / denominator``; the sign of the denominator is decided exactly."""
        sign = denominator.sign()
        if not sign:
            raise ZeroDivisionError("division by an exponential sum that is exactly zero")
        factor, size, shift = (denominator if sign > 0 else -denominator).monic()
        top = numerator.scale(sign / size, -shift)
        return cls(top, {factor: 1} if len(factor) > 1 else {})

    @property
    def denominator(self) -> ExponentialSum:
        """The product of the factors, expanded; positive."""
        return _product(self.factors)

    def __repr__(self) -> str:
        return f"ExponentialRatio({self.numerator!r} / {self.denominator!r})"

    def __add__(self, other: ExponentialRatio) -> ExponentialRatio:
        if self.factors == other.factors:
            return ExponentialRatio(self.numerator + other.numerator, dict(self.factors))
        mine, theirs = dict(self.factors), dict(other.factors)
        both = {f: max(mine.get(f, 0), theirs.get(f, 0)) for f in mine | theirs}
        left = self.numerator * _product((f, n - mine.get(f, 0)) for f, n in both.items())
        right = other.numerator * _product((f, n - theirs.get(f, 0)) for f, n in both.items())
        return ExponentialRatio(left + right, both)

    def __neg__(self) -> ExponentialRatio:
        return ExponentialRatio(-self.numerator, dict(self.factors))

    def __sub__(self, other: ExponentialRatio) -> ExponentialRatio:
        return self + -other

    def __mul__(self, other: ExponentialRatio) -> ExponentialRatio:
        powers = dict(self.factors)
        for factor, power in other.factors:
            powers[factor] = powers.get(factor, 0) + power
        return ExponentialRatio(self.numerator * other.numerator, powers)

    def __truediv__(self, other: ExponentialRatio) -> ExponentialRatio:
        """Common factors of the two denominators cancel before anything is multiplied."""
        powers, extra = dict(self.factors), []
        for factor, power in other.factors:
            shared = min(power, powers.get(factor, 0))
            powers[factor] = powers.get(factor, 0) - shared
            extra.append((factor, power - shared))
        whole = ExponentialRatio.divide(self.numerator, other.numerator)
        return ExponentialRatio(whole.numerator * _product(extra), powers) * ExponentialRatio(
            ExponentialSum.constant(1), dict(whole.factors)
        )

    def is_zero(self) -> bool:
        """Exact."""
        return self.numerator.is_zero()

    def sign(self) -> int:
        """-1, 0 or 1, exact: the denominator is positive."""
        return self.numerator.sign()

    def compare(self, other: ExponentialRatio) -> int:
        """Sign of ``self - other``, exact; enclosures first, because they are cheaper."""
        if self.factors != other.factors and max(self._top, other._top) < FILTER_BITS:
            low, high = self.interval(FILTER_BITS)
            least, most = other.interval(FILTER_BITS)
            if low > most:
                return 1
            if high < least:
                return -1
        return (self - other).sign()

    def equals(self, other: ExponentialRatio) -> bool:
        """Exact equality of the two real numbers."""
        return (self - other).is_zero()

    def as_rational(self) -> Fraction | None:
        """The value if it is rational (which is decided exactly), else None.

        ``N / D = c`` means ``N - c D = 0``, so N and D have proportional terms.
        """
        if self.is_zero():
            return Fraction(0)
        depth = sum(power * factor.bottom for factor, power in self.factors)
        if self.numerator.top or self.numerator.bottom != depth:
            return None
        whole = self.denominator
        factor = self.numerator.terms[0][1] / whole.terms[0][1]
        return factor if whole.scale(factor) == self.numerator else None

    @property
    def _top(self) -> Fraction:
        return self.numerator.top if not self.numerator.is_zero() else Fraction(0)

    def mantissa(self, bits: int) -> tuple[Interval, Fraction]:
        """((low, high), r): the value is ``exp(r)`` times a number between low and high."""
        if self.is_zero():
            return (Fraction(0), Fraction(0)), Fraction(0)
        unit = 1 << bits
        low, high = (Fraction(end, unit) for end in self.numerator.scaled_enclosure(bits))
        for factor, power in self.factors:
            least, most = _positive(factor, bits)
            low /= (most if low >= 0 else least) ** power
            high /= (least if high >= 0 else most) ** power
        return (low, high), self.numerator.top

    def interval(self, bits: int) -> Interval:
        """Fractions around the value; each end is a multiple of ``2**-bits``, rounded outward."""
        (low, high), exponent = self.mantissa(bits)
        least, most = exp_interval(exponent, bits)
        low *= least if low >= 0 else most
        high *= most if high >= 0 else least
        unit = 1 << bits
        return Fraction(low * unit // 1, unit), Fraction(-(-high * unit // 1), unit)


def _product(factors: Iterable[tuple[ExponentialSum, int]]) -> ExponentialSum:
    result = ExponentialSum.constant(1)
    for factor, power in factors:
        for _ in range(power):
            result = result * factor
    return result


@lru_cache(maxsize=512)
def _positive(factor: ExponentialSum, bits: int) -> Interval:
    """Around a sum known to be positive with largest exponent 0; the lower end is positive."""
    work = bits
    while work <= 2 * MAX_BITS:
        low, high = factor.scaled_enclosure(work)
        if low > 0:
            return Fraction(low, 1 << work), Fraction(high, 1 << work)
        work *= 2
    raise SymbolicBudgetError(f"a denominator is not separated from 0 by {MAX_BITS} bits")


ZERO = ExponentialRatio.of(0)
ONE = ExponentialRatio.of(1)


def total(ratios: Iterable[ExponentialRatio]) -> ExponentialRatio:
    """Sum of ratios: numerators over the same denominator are added first."""
    groups: dict[Factors, list[ExponentialSum]] = {}
    for ratio in ratios:
        groups.setdefault(ratio.factors, []).append(ratio.numerator)
    result = ZERO
    for factors, numerators in groups.items():
        result = result + ExponentialRatio(ExponentialSum.total(numerators), dict(factors))
    return result


def minimum(left: ExponentialRatio, right: ExponentialRatio) -> ExponentialRatio:
    """``min(left, right)``, decided exactly."""
    return left if left.compare(right) <= 0 else right


def positive_part(left: ExponentialRatio, right: ExponentialRatio) -> ExponentialRatio:
    """``max(left - right, 0)``, decided exactly."""
    return left - right if left.compare(right) > 0 else ZERO
