"""Finite sums ``sum_k c_k exp(r_k)`` with rational c_k and distinct rational r_k, exactly.

The sums form a ring (the group ring of the rationals). By the theorem of Lindemann and Weierstrass
``exp(r_1), ..., exp(r_n)`` are linearly independent over the rationals (even over the algebraic
numbers) when the r_k are distinct (Baker, Transcendental Number Theory, theorem 1.4). So a sum is
zero exactly when it has no term left, and the sign of any other sum is found by enclosures of
rising precision, which must end because the value is not zero.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fractions import Fraction
from math import gcd, lcm

from specdist.exact.symbolic_enclosure import (
    MAX_BITS,
    MAX_PRODUCTS,
    Interval,
    SymbolicBudgetError,
    exp_interval,
    exp_minus,
)

Term = tuple[Fraction, Fraction]


class ExponentialSum:
    """An immutable sum; ``terms`` are (exponent, coefficient), largest exponent first."""

    __slots__ = ("_hash", "terms")

    terms: tuple[Term, ...]

    def __init__(self, coefficients: Mapping[Fraction, Fraction] | None = None) -> None:
        found = [(r, c) for r, c in (coefficients or {}).items() if c]
        self.terms = tuple(sorted(found, reverse=True))
        self._hash: int | None = None

    @classmethod
    def constant(cls, value: Fraction | int) -> ExponentialSum:
        return cls({Fraction(0): Fraction(value)})

    @classmethod
    def exp(cls, exponent: Fraction, coefficient: Fraction | int = 1) -> ExponentialSum:
        """``coefficient * exp(exponent)``."""
        return cls({Fraction(exponent): Fraction(coefficient)})

    @classmethod
    def total(cls, sums: Iterable[ExponentialSum]) -> ExponentialSum:
        """Sum of any number of sums."""
        found: dict[Fraction, Fraction] = {}
        for item in sums:
            for exponent, coefficient in item.terms:
                found[exponent] = found.get(exponent, Fraction(0)) + coefficient
        return cls(found)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ExponentialSum) and self.terms == other.terms

    def __hash__(self) -> int:
        if self._hash is None:
            self._hash = hash(self.terms)
        return self._hash

    def __len__(self) -> int:
        return len(self.terms)

    def __repr__(self) -> str:
        inner = " + ".join(f"{c}*exp({r})" for r, c in self.terms)
        return f"ExponentialSum({inner or '0'})"

    def is_zero(self) -> bool:
        """Exact, by linear independence."""
        return not self.terms

    @property
    def top(self) -> Fraction:
        """Largest exponent; the sum must not be zero."""
        return self.terms[0][0]

    @property
    def bottom(self) -> Fraction:
        """Smallest exponent; the sum must not be zero."""
        return self.terms[-1][0]

    def __add__(self, other: ExponentialSum) -> ExponentialSum:
        return ExponentialSum.total((self, other))

    def __neg__(self) -> ExponentialSum:
        return self.scale(-1)

    def __sub__(self, other: ExponentialSum) -> ExponentialSum:
        return ExponentialSum.total((self, -other))

    def scale(self, factor: Fraction | int, shift: Fraction | int = 0) -> ExponentialSum:
        """``factor * exp(shift) * self``."""
        if not factor:
            return ExponentialSum()
        result = ExponentialSum()
        result.terms = tuple((r + shift, c * factor) for r, c in self.terms)
        return result

    def __mul__(self, other: ExponentialSum) -> ExponentialSum:
        """The product, in integers over common denominators of exponents and coefficients."""
        if len(self) == 1 or len(other) == 1:
            single, many = (self, other) if len(self) == 1 else (other, self)
            return many.scale(single.terms[0][1], single.terms[0][0])
        if len(self) * len(other) > MAX_PRODUCTS:
            raise SymbolicBudgetError(
                f"the closed form needs a product of {len(self)} by {len(other)} terms",
                expected=f"at most {MAX_PRODUCTS} products of terms",
                advice="check the row without --symbolic, or keep fewer tokens",
            )
        steps = lcm(*(r.denominator for r, _ in self.terms + other.terms))
        left_unit, left = self._integers(steps)
        right_unit, right = other._integers(steps)
        found: dict[int, int] = {}
        for exponent, coefficient in left:
            for more, factor in right:
                key = exponent + more
                found[key] = found.get(key, 0) + coefficient * factor
        unit = left_unit * right_unit
        return ExponentialSum({Fraction(r, steps): Fraction(c, unit) for r, c in found.items()})

    def _integers(self, steps: int) -> tuple[int, list[tuple[int, int]]]:
        unit = lcm(*(c.denominator for _, c in self.terms))
        scaled = ((r * steps, c * unit) for r, c in self.terms)
        return unit, [(r.numerator, c.numerator) for r, c in scaled]

    def scaled_enclosure(self, bits: int) -> tuple[int, int]:
        """(low, high) with ``low <= 2^bits * exp(-top) * self <= high``.

        Width: at most ``3 sum_k |c_k| + 2 n`` for n terms. Each ``exp(r_k - top)`` has an
        enclosure of width <= 3, its product with c_k is rounded outward by less than 1 a side.
        """
        low = high = 0
        for exponent, coefficient in self.terms:
            least, most = exp_minus(self.top - exponent, bits)
            if coefficient < 0:
                least, most = most, least
            low += coefficient.numerator * least // coefficient.denominator
            high -= -coefficient.numerator * most // coefficient.denominator
        return low, high

    def enclosure(self, bits: int) -> Interval:
        """Fractions around the value. Relative to ``exp(top)`` the width is that of
        `scaled_enclosure` over ``2**bits``, and 4 units of the last bit more for ``exp(top)``."""
        if not self.terms:
            return Fraction(0), Fraction(0)
        least, most = exp_interval(self.top, bits)
        low, high = self.scaled_enclosure(bits)
        return (
            Fraction(low, 1 << bits) * (least if low >= 0 else most),
            Fraction(high, 1 << bits) * (most if high >= 0 else least),
        )

    def sign(self) -> int:
        """-1, 0 or 1, always right; `SymbolicBudgetError` if `MAX_BITS` bits do not tell."""
        if not self.terms:
            return 0
        if all(c > 0 for _, c in self.terms):
            return 1
        if all(c < 0 for _, c in self.terms):
            return -1
        bits = 64
        while bits <= MAX_BITS:
            low, high = self.scaled_enclosure(bits)
            if low > 0:
                return 1
            if high < 0:
                return -1
            bits *= 2
        raise SymbolicBudgetError(
            f"the sign of a closed form is not settled by {MAX_BITS} bits",
            advice="check the row without --symbolic",
        )

    def monic(self) -> tuple[ExponentialSum, Fraction, Fraction]:
        """(m, c, r) with ``self = c exp(r) m``, c > 0, largest term of m +1 or -1."""
        exponent, coefficient = self.terms[0]
        size = abs(coefficient)
        return self.scale(1 / size, -exponent), size, exponent

    def quotient(self, divisor: ExponentialSum, work: int = 100_000) -> ExponentialSum | None:
        """``self / divisor`` when it is a sum again and found with at most ``work`` terms touched.

        Long division from the largest exponent down; no quotient term may lie below
        ``self.bottom - divisor.bottom``, because the smallest terms multiply without cancelling.
        """
        rest = dict(self.terms)
        found: dict[Fraction, Fraction] = {}
        lead, size = divisor.terms[0]
        while work > 0:
            if not rest:
                return ExponentialSum(found)
            work -= len(rest) + len(divisor)
            exponent = max(rest)
            shift, factor = exponent - lead, rest[exponent] / size
            if shift < self.bottom - divisor.bottom:
                return None
            found[shift] = factor
            for r, c in divisor.terms:
                left = rest.pop(r + shift, Fraction(0)) - factor * c
                if left:
                    rest[r + shift] = left
        return None


def common_step(exponents: Iterable[Fraction]) -> Fraction:
    """Largest rational of which every exponent is an integer multiple (0 if all are 0)."""
    found = list(exponents)
    bottom = lcm(*(r.denominator for r in found)) if found else 1
    return Fraction(gcd(*((r * bottom).numerator for r in found)) if found else 0, bottom)
