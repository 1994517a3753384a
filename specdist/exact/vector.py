"""Exact vectors over the vocabulary: one interface, a rational and a float64 implementation.

A vector carries ``error``: the rounding bound ``sum_x |v(x) - v_real(x)| <= error`` against the
vector that the real-valued laws would give (0 when nothing was rounded on the way). The values
themselves are exact for the weights as represented, except where a docstring says "rounded";
then the rounding is inside ``error`` too.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import NamedTuple, Protocol, Self


class Share(NamedTuple):
    """Some tokens of a vector: the one with the largest entry, how many, and their sum."""

    token: int
    size: int
    mass: Fraction


class ExactVector(Protocol):
    """The operations that acceptance rules and the comparison are made of."""

    @property
    def error(self) -> Fraction:
        """Bound on ``sum_x |v(x) - v_real(x)|``."""

    def __add__(self, other: Self) -> Self:
        """``v(x) + other(x)``."""

    def __sub__(self, other: Self) -> Self:
        """``v(x) - other(x)``."""

    def scaled(self, factor: Fraction, factor_error: Fraction = Fraction(0)) -> Self:
        """``factor * v``; ``factor_error`` bounds the error of the factor itself."""

    def widened(self, error: Fraction) -> Self:
        """The same vector with ``error`` in place of its own."""

    def minimum(self, other: Self) -> Self:
        """``min(v(x), other(x))`` for every x."""

    def positive_part(self) -> Self:
        """``max(v(x), 0)`` for every x."""

    def total(self) -> Fraction:
        """``sum_x v(x)``, exactly."""

    def value(self, token: int) -> Fraction:
        """``v(token)``, exactly."""

    def parts(self, tokens: Sequence[int]) -> list[tuple[tuple[Fraction, float], ...]]:
        """``v(token)`` for some tokens, each as ``sum of factor * float``, exactly."""

    def is_zero(self) -> bool:
        """True iff every entry is exactly 0 for the weights as represented."""

    def vanishes_identically(self) -> bool:
        """True only if every entry is 0 for the real-valued laws as well, not merely for their
        rounded weights."""

    def same_as(self, other: Self) -> bool:
        """True only if both are one vector by construction, entries and error alike."""

    def largest(self, count: int) -> list[int]:
        """Token ids of the ``count`` entries largest in size, ties by rising id."""

    def accepted_from(self, target: Self, tested: Self, zero_draft: str) -> Self:
        """``drafted * min(1, target / tested)`` with self as ``drafted``.

        Where ``tested(x) = 0 < drafted(x)``, ``zero_draft`` "accept" reads target/0 as infinite
        for target > 0 (0/0 rejects) and "reject" as 0. Rounded when the quotient is not constant.
        """

    def product(self, other: Self) -> Self:
        """``v(x) * other(x)`` for every x."""

    def over_complement(self, law: Self) -> tuple[Self, Fraction]:
        """``v(x) / (1 - law(x))``, 0 where ``law(x) = 1``; and the sum of v there. Rounded for
        float64 vectors."""

    def positive_where_zero(self, other: Self) -> Share | None:
        """The tokens x with ``v(x) > 0`` and ``other(x) = 0``, exactly; None if there are none."""

    def positive_share(self) -> Share | None:
        """The tokens x with ``v(x) > 0``, exactly; None if there are none."""

    def drafted_outside(self, other: Self) -> list[int]:
        """Tokens x with ``v(x) > 0`` and ``other(x) = 0``, rising, at most 16 of them."""
