"""The row while a recipe works on it: one protocol, a rational and a float64 implementation.

A processor states its formula and calls one of these operations; the two implementations
(`rational_row.py`, `float_row.py`) are twins and are compared exactly in tests. Every operation
returns a new row. A token that is dropped has weight 0 from then on; "kept" below always means
"not dropped yet". Logits are ``ln`` of the probability when the captured row holds probabilities.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple, Protocol, Self

from specdist.exact.law import Law
from specdist.model.row import NumberFormat


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


class Shares(NamedTuple):
    """The probability of every kept token, rising ids, and the relative bound of the weights
    behind them; `cut_remarks.share_slack` says how far a share may then be off."""

    by_token: dict[int, Fraction]
    bound: Fraction


class Remade(NamedTuple):
    """A row made anew: positive weights by token, over ``size`` tokens, each within the relative
    ``bound``; they need not sum to one.

    ``step`` says what was done, exactly: the same step on rows of one origin gives one law.
    ``mass`` is the sum that the new row brings to a test.
    """

    by_token: Mapping[int, Fraction]
    size: int
    bound: Fraction
    step: Hashable
    mass: Fraction = Fraction(1)
    remarks: tuple[Remark, ...] = ()


class WorkingRow(Protocol):
    """The operations that processors are made of."""

    @property
    def size(self) -> int:
        """Vocabulary size."""

    @property
    def place(self) -> str:
        """Where the row was captured, for messages."""

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

    def argmax(self, ties: str = "lowest-id") -> Self:
        """Point mass at the lowest id among the largest weights, where a tie becomes a remark;
        ``ties`` "all": the uniform law on all of them."""

    def keep_top(self, count: int, ties: str) -> Self:
        """The `count` largest; ``ties`` is "all" (every tie of the last one), "lowest-id", or
        "any", which is "lowest-id" with a remark about a tie at the cut."""

    def keep_prefix(self, mass: Fraction, boundary: str, ties: str) -> Self:
        """Shortest prefix in falling probability whose mass, on the kept row renormalised, is
        ``>= mass`` (boundary "reach") or ``> mass`` (boundary "exceed"). ``ties``: "lowest-id",
        "highest-id" or "all" (every tie of the boundary token). Boundary "partial": as "reach",
        and the last token (with ties "all": the last tie, evenly) keeps only what is missing."""

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

    def mapped(self, targets: Sequence[int], size: int) -> Self:
        """Token x becomes token ``targets[x]`` of a vocabulary of ``size``; -1 drops it."""

    def resized(self, size: int) -> Self:
        """The first ``size`` tokens; tokens beyond the row are impossible."""

    def rounded_logits(self, numbers: NumberFormat) -> Self:
        """Every logit rounded to a float format; RowError unless the row holds logits."""

    def rounded_probabilities(self, numbers: NumberFormat) -> Self:
        """Every probability rounded to a float format; their sum is the mass of the row."""

    def drawn_on_grid(self, points: int) -> Self:
        """The law of the smallest x with ``u < C(x)``, u uniform on ``{0 .. points - 1}/points``
        and C the cumulative probability."""

    def raced_on_grid(self, points: int) -> Self:
        """The law of the first x with the largest ``u_x^(1/p(x))``, each u uniform on
        ``{1 .. points}/points``."""

    def shares(self) -> Shares:
        """The probability of every kept token."""

    def remade(self, made: Remade) -> Self:
        """The row that ``made`` describes in place of this one; its remarks are added."""

    def mixed(self, other: Self, tokens: Collection[int]) -> Self:
        """``p(x) [x listed] + (1 - p(listed)) * other(x)`` of the two distributions."""

    def law(self) -> Law:
        """The distribution: weights over their exact sum."""
