"""What a rule over proposals takes and what it yields: draft tokens in, weighted outcomes out."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Protocol

from specdist.model.conditional import Prefix
from specdist.model.draft_tree import ROOT, DraftTree
from specdist.model.role import Role

Law = tuple[Fraction, ...]
"""A probability for every token id, or masses by token id."""


class PrefixLaws(Protocol):
    """The processed law of every role at every prefix that a step can reach.

    ``size`` is the vocabulary size. The draft roles in ``one_hot`` are the point mass at the
    drafted token, whatever it is, and have no law. ``rank`` chooses among several drafters.
    """

    @property
    def size(self) -> int: ...

    @property
    def one_hot(self) -> frozenset[Role]: ...

    def law(self, role: Role, prefix: Prefix, rank: int = 0) -> Law: ...


@dataclass(frozen=True, slots=True)
class Drafted:
    """The draft tokens of one step, on the nodes of their tree."""

    tree: DraftTree
    tokens: tuple[int, ...]

    def prefix(self, node: int) -> Prefix:
        """The tokens from the root to ``node``, its own included; ``()`` for the root."""
        path: list[int] = []
        while node != ROOT:
            path.append(self.tokens[node])
            node = self.tree.parents[node]
        return tuple(reversed(path))


@dataclass(frozen=True, slots=True)
class Outcome:
    """One outcome of a step and its exact mass.

    ``accepted`` are the draft tokens that are kept, from the root; after them one more token
    follows, drawn from ``then`` (a law, or a token id), which is a bonus token where ``bonus``
    (nothing was rejected at the end of the path) and a recovered token otherwise. ``then`` None:
    nothing more is emitted. ``error`` bounds how far ``mass`` is from the true mass, where that is
    irrational: laws made of outcomes are off by the sum of their errors in the sum of sizes.
    """

    mass: Fraction
    accepted: Prefix
    then: Law | int | None
    bonus: bool = False
    unnamed: bool = False
    error: Fraction = Fraction(0)
