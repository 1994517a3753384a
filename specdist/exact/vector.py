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

from specdist.exact.accept_test import AcceptTest


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

    @property
    def size(self) -> int:
        """How many tokens the vocabulary has."""

    def __add__(self, other: Self) -> Self:
        """``v(x) + other(x)``."""

    def __sub__(self, other: Self) -> Self:
        """``v(x) - other(x)``."""

    def scaled(self, factor: Fraction, factor_error: Fraction = Fraction(0)) -> Self:
        """``factor * v``; ``factor_error`` bounds the error of the factor itself."""

    def widened(self, error: Fraction) -> Self:
        """The same vector with ``error`` in place of its own."""

    def doubted(self, error: Fraction) -> Self:
        """The same vector with ``error`` added for a choice that rounding leaves open: terms that
        cancel then prove nothing (`vanishes_identically`)."""

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

    def accepted_from(self, target: Self, tested: Self, test: AcceptTest) -> Self:
        """``drafted * chance(target, tested)`` with self as ``drafted``; see `AcceptTest`.

        Rounded for float64 vectors when the quotient is not constant.
        """

    def constant(self, value: Fraction) -> Self:
        """``value`` for every token, without an error."""

    def where(self, condition: Self, also_zero: bool = False, sure: Self | None = None) -> Self:
        """``v(x)`` where ``condition(x) > 0`` (or ``>= 0``), else 0.

        Where the condition's own error leaves its sign open, v(x) goes into the error of the
        result, except where ``sure(x) > 0``: there the condition holds beyond doubt.
        """

    def among(self, tokens: Sequence[int]) -> Self:
        """``v(x)`` for the listed tokens, else 0."""

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
