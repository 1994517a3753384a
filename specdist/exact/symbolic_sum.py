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

from specdist.exact.symbolic_budget import SymbolicBudgetError, charge
from specdist.exact.symbolic_enclosure import (
    MAX_BITS,
    Interval,
    exp_interval,
    exp_minus,
)

Term = tuple[Fraction, Fraction]


class ExponentialSum:
    """An immutable sum, held in lowest integers: ``sum of c / unit * exp(r / steps)``.

    ``whole`` lists the integer pairs (r, c), largest r first, no c zero. ``steps`` has no divisor
    in common with every r, nor ``unit`` with every c, so equal sums have equal fields.
    """

    __slots__ = ("_hash", "steps", "unit", "whole")

    def __init__(self, coefficients: Mapping[Fraction, Fraction] | None = None) -> None:
        found = coefficients or {}
        steps = lcm(*(r.denominator for r in found))
        unit = lcm(*(c.denominator for c in found.values()))
        pairs = {
            r.numerator * (steps // r.denominator): c.numerator * (unit // c.denominator)
            for r, c in found.items()
        }
        self._settle(steps, unit, pairs)

    def _settle(self, steps: int, unit: int, pairs: Mapping[int, int]) -> None:
        kept = {r: c for r, c in pairs.items() if c}
        over, under = gcd(steps, *kept), gcd(unit, *kept.values())
        self.steps, self.unit = steps // over, unit // under
        self.whole = tuple((r // over, kept[r] // under) for r in sorted(kept, reverse=True))
        self._hash = hash((self.steps, self.unit, self.whole))

    @classmethod
    def _of(cls, steps: int, unit: int, pairs: Mapping[int, int]) -> ExponentialSum:
        result = cls.__new__(cls)
        result._settle(steps, unit, pairs)
        return result

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
        items = list(sums)
        charge(sum(len(item) for item in items))
        steps = lcm(*(item.steps for item in items))
        unit = lcm(*(item.unit for item in items))
        found: dict[int, int] = {}
        for item in items:
            stretch, factor = steps // item.steps, unit // item.unit
            for r, c in item.whole:
                found[r * stretch] = found.get(r * stretch, 0) + c * factor
        return cls._of(steps, unit, found)

    @property
    def terms(self) -> tuple[Term, ...]:
        """(exponent, coefficient) as fractions, largest exponent first."""
        return tuple((Fraction(r, self.steps), Fraction(c, self.unit)) for r, c in self.whole)

    @property
    def key(self) -> tuple[object, ...]:
        """The fields that define the sum, for sorting."""
        return self.whole, self.steps, self.unit

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ExponentialSum) and self.key == other.key

    def __hash__(self) -> int:
        return self._hash

    def __len__(self) -> int:
        return len(self.whole)

    def __repr__(self) -> str:
        inner = " + ".join(f"{c}*exp({r})" for r, c in self.terms)
        return f"ExponentialSum({inner or '0'})"

    def is_zero(self) -> bool:
        """Exact, by linear independence."""
        return not self.whole

    @property
    def top(self) -> Fraction:
        """Largest exponent; the sum must not be zero."""
        return Fraction(self.whole[0][0], self.steps)

    @property
    def bottom(self) -> Fraction:
        """Smallest exponent; the sum must not be zero."""
        return Fraction(self.whole[-1][0], self.steps)

    def __add__(self, other: ExponentialSum) -> ExponentialSum:
        return ExponentialSum.total((self, other))

    def __neg__(self) -> ExponentialSum:
        return self.scale(-1)

    def __sub__(self, other: ExponentialSum) -> ExponentialSum:
        return ExponentialSum.total((self, -other))

    def scale(self, factor: Fraction | int, shift: Fraction | int = 0) -> ExponentialSum:
        """``factor * exp(shift) * self``."""
        return self * ExponentialSum.exp(Fraction(shift), factor)

    def __mul__(self, other: ExponentialSum) -> ExponentialSum:
        """The product; raises SymbolicBudgetError when it would be too long to work with."""
        charge(len(self) * len(other), product=True)
        steps = lcm(self.steps, other.steps)
        stretch = steps // self.steps
        right = [(r * (steps // other.steps), c) for r, c in other.whole]
        found: dict[int, int] = {}
        for r, c in self.whole:
            start = r * stretch
            for more, factor in right:
                found[start + more] = found.get(start + more, 0) + c * factor
        return ExponentialSum._of(steps, self.unit * other.unit, found)

    def scaled_enclosure(self, bits: int) -> tuple[int, int]:
        """(low, high) with ``low <= 2^bits * exp(-top) * self <= high``.

        Width: at most ``3 sum_k |c_k| + 2``, because each ``exp(r_k - top)`` has an enclosure of
        width <= 3 and the sum of the products is rounded outward once. The
        sum must not be zero.
        """
        charge(len(self))
        low = high = 0
        top = self.whole[0][0]
        for r, c in self.whole:
            least, most = exp_minus(Fraction(top - r, self.steps), bits)
            low += c * (least if c > 0 else most)
            high += c * (most if c > 0 else least)
        return low // self.unit, -(-high // self.unit)

    def enclosure(self, bits: int) -> Interval:
        """Fractions around the value. Relative to ``exp(top)`` the width is that of
        `scaled_enclosure` over ``2**bits``, and 4 units of the last bit more for ``exp(top)``."""
        if not self.whole:
            return Fraction(0), Fraction(0)
        least, most = exp_interval(self.top, bits)
        low, high = self.scaled_enclosure(bits)
        return (
            Fraction(low, 1 << bits) * (least if low >= 0 else most),
            Fraction(high, 1 << bits) * (most if high >= 0 else least),
        )

    def sign(self) -> int:
        """-1, 0 or 1, always right; `SymbolicBudgetError` if `MAX_BITS` bits do not tell."""
        if not self.whole:
            return 0
        if all(c > 0 for _, c in self.whole):
            return 1
        if all(c < 0 for _, c in self.whole):
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
        size = Fraction(abs(self.whole[0][1]), self.unit)
        return self.scale(1 / size, -self.top), size, self.top

    def quotient(self, divisor: ExponentialSum, work: int = 50_000) -> ExponentialSum | None:
        """``self / divisor`` when it is a sum again and found with at most ``work`` terms touched.

        Long division from the largest exponent down; no quotient term may lie below
        ``self.bottom - divisor.bottom``, because the smallest terms multiply without cancelling.
        ``self`` must not be zero.
        """
        steps = lcm(self.steps, divisor.steps)
        rest = {r * (steps // self.steps): Fraction(c, self.unit) for r, c in self.whole}
        parts = [(r * (steps // divisor.steps), c) for r, c in divisor.whole]
        (lead, size), floor = parts[0], min(rest) - parts[-1][0]
        found: dict[Fraction, Fraction] = {}
        while work > 0 and rest:
            work -= len(rest) + len(parts)
            start = max(rest)
            shift, factor = start - lead, rest[start] / size
            if shift < floor:
                return None
            found[Fraction(shift, steps)] = factor * divisor.unit
            for r, c in parts:
                left = rest.pop(r + shift, Fraction(0)) - factor * c
                if left:
                    rest[r + shift] = left
        return None if rest else ExponentialSum(found)


def common_step(exponents: Iterable[Fraction]) -> Fraction:
    """Largest rational of which every exponent is an integer multiple (0 if all are 0)."""
    found = list(exponents)
    bottom = lcm(*(r.denominator for r in found)) if found else 1
    return Fraction(gcd(*((r * bottom).numerator for r in found)) if found else 0, bottom)
