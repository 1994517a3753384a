"""The row while a recipe works on it: one protocol, a rational and a float64 implementation.

A processor states its formula and calls one of these operations; the two implementations
(`rational_row.py`, `float_row.py`) are twins and are compared exactly in tests. Every operation
returns a new row. A token that is dropped has weight 0 from then on; "kept" below always means
"not dropped yet". Logits are ``ln`` of the probability when the captured row holds probabilities.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Protocol, Self

from specdist.exact.law import Law


@dataclass(frozen=True, slots=True)
class Remark:
    """Something a step has to say about this row: ident (`near-cut`, `row-not-normalised`, ...).

    An `undecided-precision` remark names the ``step``, and how far its threshold must move at
    least, relatively, to get past the rounding (``leeway``; None: no threshold decides it).
    """

    ident: str
    message: str
    step: str = ""
    leeway: Fraction | None = None


class WorkingRow(Protocol):
    """The operations that processors are made of."""

    @property
    def size(self) -> int:
        """Vocabulary size."""

    @property
    def remarks(self) -> tuple[Remark, ...]:
        """What the steps so far had to say."""

    def add(self, changes: Mapping[int, Fraction]) -> Self:
        """Logit of token x becomes z(x) + changes[x] (exact or with a bounded float error)."""

    def penalise(self, tokens: Collection[int], factor: Fraction) -> Self:
        """Repetition: z becomes z / factor where z > 0 and z * factor elsewhere, once per id."""

    def keep(self, tokens: Collection[int]) -> Self:
        """Drops every token that is not listed."""

    def drop(self, tokens: Collection[int]) -> Self:
        """Drops the listed tokens."""

    def divide(self, temperature: Fraction) -> Self:
        """Logits divided by a positive temperature; weights w become w ** (1 / temperature)."""

    def argmax(self) -> Self:
        """Point mass at the lowest id among the largest weights; a tie becomes a remark."""

    def keep_top(self, count: int, ties: str) -> Self:
        """The `count` largest; ``ties`` is "all" (every tie of the last one) or "lowest-id"."""

    def keep_prefix(self, mass: Fraction, boundary: str, ties: str) -> Self:
        """Shortest prefix in falling probability whose mass, on the kept row renormalised, is
        ``>= mass`` (boundary "reach") or ``> mass`` (boundary "exceed"). ``ties``: "lowest-id",
        "highest-id" or "all" (every tie of the boundary token)."""

    def keep_relative(self, fraction: Fraction, strict: bool) -> Self:
        """Tokens with weight >= fraction * largest weight (``strict``: >)."""

    def keep_within_deviations(self, count: Fraction) -> Self:
        """Tokens with z >= max z - count * population deviation of the kept logits."""

    def keep_typical(self, mass: Fraction, boundary: str) -> Self:
        """Rising ``|-ln p - H|``, until the mass is ``>= mass`` ("reach") or ``> mass``; ties of
        the last shift are kept."""

    def keep_at_least(self, probability: Fraction) -> Self:
        """Epsilon cutoff: tokens with p >= probability; the most likely token (all its ties)
        always stays."""

    def keep_eta(self, epsilon: Fraction) -> Self:
        """Eta cutoff: tokens with p >= min(epsilon, sqrt(epsilon) * exp(-H)); the most likely
        token (all its ties) always stays."""

    def law(self) -> Law:
        """The distribution: weights over their exact sum."""
