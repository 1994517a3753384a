"""Exact vectors as fractions: the readable twin, and the representation of hand-written rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import lcm

from specdist.exact.accept_test import AcceptTest
from specdist.exact.law import RationalLaw
from specdist.exact.vector import Share

_ZERO = Fraction(0)
_DEEP = Fraction(1, 2**960)


def relative_to_absolute(bound: Fraction) -> Fraction:
    """L1 error of a normalised law whose weights are within relative ``bound``.

    With weights w(1 + e), |e| <= bound, each probability is off by a factor between
    ``(1 - bound) / (1 + bound)`` and its inverse, so the L1 error is at most
    ``2 bound / (1 - bound)``; rounded up to a multiple of 2**-100. A bound of 1/100 or more says
    nothing about the weights, and two laws are never further apart than 2.
    """
    if bound >= Fraction(1, 100):
        return Fraction(2)
    return rounded_up(2 * bound / (1 - bound)) if bound else bound


def rounded_up(bound: Fraction) -> Fraction:
    """The next multiple of 2**-100: error bounds need no longer denominators."""
    return Fraction(-(-(bound.numerator << 100) // bound.denominator), 1 << 100)


def quotient_error(drafted: Fraction, target: Fraction, tested: Fraction) -> Fraction:
    """L1 error of ``drafted * min(1, target / tested)`` for relative errors of the three: at most
    ``(1 + a)(1 + b) / (1 - c) - 1``, and never above 2."""
    if tested >= 1:
        return Fraction(2)
    return min((1 + drafted) * (1 + target) / (1 - tested) - 1, Fraction(2))


def exact_total(values: Sequence[Fraction]) -> Fraction:
    """Sum of fractions over one common denominator."""
    denominator = lcm(*(value.denominator for value in values)) if values else 1
    total = sum(value.numerator * (denominator // value.denominator) for value in values)
    return Fraction(total, denominator)


@dataclass(frozen=True, slots=True)
class RationalVector:
    """A vector of fractions; index is the token id. See `ExactVector` for the operations."""

    entries: tuple[Fraction, ...]
    error: Fraction = _ZERO

    @classmethod
    def of(cls, law: RationalLaw) -> RationalVector:
        return cls(law.values, relative_to_absolute(law.bound))

    @property
    def size(self) -> int:
        return len(self.entries)

    def __add__(self, other: RationalVector) -> RationalVector:
        return self._zip(other, lambda mine, theirs: mine + theirs)

    def __sub__(self, other: RationalVector) -> RationalVector:
        return self._zip(other, lambda mine, theirs: mine - theirs)

    def scaled(self, factor: Fraction, factor_error: Fraction = _ZERO) -> RationalVector:
        size = sum((abs(value) for value in self.entries), _ZERO) if factor_error else _ZERO
        error = abs(factor) * self.error + factor_error * (size + self.error)
        return RationalVector(tuple(factor * value for value in self.entries), error)

    def widened(self, error: Fraction) -> RationalVector:
        return RationalVector(self.entries, error)

    def doubted(self, error: Fraction) -> RationalVector:
        return RationalVector(self.entries, self.error + error)

    def minimum(self, other: RationalVector) -> RationalVector:
        return self._zip(other, min)

    def positive_part(self) -> RationalVector:
        return RationalVector(tuple(max(value, _ZERO) for value in self.entries), self.error)

    def total(self) -> Fraction:
        return exact_total(self.entries)

    def value(self, token: int) -> Fraction:
        return self.entries[token]

    def parts(self, tokens: Sequence[int]) -> list[tuple[tuple[Fraction, float], ...]]:
        return [((self.entries[token], 1.0),) for token in tokens]

    def is_zero(self) -> bool:
        return not any(self.entries)

    def vanishes_identically(self) -> bool:
        return self.is_zero() and not self.error

    def same_as(self, other: RationalVector) -> bool:
        return self is other

    def largest(self, count: int) -> list[int]:
        order = sorted(
            range(len(self.entries)), key=lambda token: (-abs(self.entries[token]), token)
        )
        return order[:count]

    def accepted_from(
        self, target: RationalVector, tested: RationalVector, test: AcceptTest
    ) -> RationalVector:
        chances = map(test.chance, target.entries, tested.entries)
        values = tuple(mass * chance for mass, chance in zip(self.entries, chances, strict=True))
        error = quotient_error(self.error, target.error, tested.error)
        if test.grid is not None:  # chances change by points of the grid
            error = min(error * test.grid.stretch, Fraction(2))
        if target.error or tested.error:
            # Where a rounded weight underflowed, target/tested may be anything.
            pairs = zip(self.entries, tested.entries, strict=True)
            error += sum((mass for mass, test in pairs if 0 < test < _DEEP), _ZERO)
            error += self._unsure(target, tested, test, error)
        return RationalVector(values, error)

    def _unsure(
        self, target: RationalVector, tested: RationalVector, test: AcceptTest, slack: Fraction
    ) -> Fraction:
        """What a grid adds to the error: one point for the mass whose rounded ratio may lie on the
        other side of it."""
        if test.grid is None:
            return _ZERO
        mass, points = _ZERO, test.grid.points
        for i, drafted in enumerate(self.entries):
            divisor = tested.entries[i] + test.epsilon
            edge = min(target.entries[i] / divisor, Fraction(2)) * points if divisor else _ZERO
            if edge and abs(edge - Fraction(round(edge))) <= edge * slack:
                mass += drafted
        return mass * test.grid.step

    def constant(self, value: Fraction) -> RationalVector:
        return RationalVector((Fraction(value),) * len(self.entries))

    def where(
        self,
        condition: RationalVector,
        also_zero: bool = False,
        sure: RationalVector | None = None,
    ) -> RationalVector:
        error, kept = self.error, []
        certain = (_ZERO,) * len(self.entries) if sure is None else sure.entries
        for value, sign, holds in zip(self.entries, condition.entries, certain, strict=True):
            if condition.error and not holds > 0 and abs(sign) <= condition.error:
                error += abs(value)
            kept.append(value if holds > 0 or sign > 0 or (also_zero and not sign) else _ZERO)
        return RationalVector(tuple(kept), error)

    def among(self, tokens: Sequence[int]) -> RationalVector:
        chosen = set(tokens)
        kept = (value if token in chosen else _ZERO for token, value in enumerate(self.entries))
        return RationalVector(tuple(kept), self.error)

    def product(self, other: RationalVector) -> RationalVector:
        values = tuple(map(Fraction.__mul__, self.entries, other.entries))
        return RationalVector(values, (1 + self.error) * (1 + other.error) - 1)

    def over_complement(self, law: RationalVector) -> tuple[RationalVector, Fraction]:
        values, lost, smallest = [], _ZERO, Fraction(1)
        for value, probability in zip(self.entries, law.entries, strict=True):
            if probability == 1:
                lost += value
                values.append(_ZERO)
            else:
                values.append(value / (1 - probability))
                smallest = min(smallest, 1 - probability) if value else smallest
        error = _ZERO
        if self.error or law.error:
            margin = smallest - law.error
            error = (self.error + law.error) / (smallest * margin) if margin > 0 else Fraction(1)
        return RationalVector(tuple(values), error), lost

    def positive_where_zero(self, other: RationalVector) -> Share | None:
        pairs = zip(self.entries, other.entries, strict=True)
        kept = tuple(mine if not theirs else _ZERO for mine, theirs in pairs)
        return RationalVector(kept).positive_share()

    def positive_share(self) -> Share | None:
        positive = self.positive_part()
        count = sum(1 for entry in positive.entries if entry)
        return Share(positive.largest(1)[0], count, positive.total()) if count else None

    def drafted_outside(self, other: RationalVector) -> list[int]:
        pairs = zip(self.entries, other.entries, strict=True)
        outside = [token for token, (mine, theirs) in enumerate(pairs) if mine and not theirs]
        return outside[:16]

    def _zip(
        self, other: RationalVector, operation: Callable[[Fraction, Fraction], Fraction]
    ) -> RationalVector:
        values = tuple(map(operation, self.entries, other.entries))
        return RationalVector(values, self.error + other.error)
