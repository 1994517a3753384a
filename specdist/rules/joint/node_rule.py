"""Rules for one position with several drafted tokens: which child is accepted, or what is emitted.

A rule of one position looks at the children of one node, in their order, and at the laws after its
prefix. It says how likely each child is to be the accepted one, and which token follows if none is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction

from specdist.exact.bounded import at_most_one
from specdist.model.conditional import Prefix
from specdist.model.draft_tree import Siblings
from specdist.model.recipe import RecipeStep
from specdist.model.role import Role
from specdist.rules.joint.outcomes import Law, PrefixLaws
from specdist.rules.joint.recovered import normalised, positive_part, recovered, untested

_ZERO, _ONE = Fraction(0), Fraction(1)


@dataclass(frozen=True, slots=True)
class Child:
    """One drafted token: its rank among the siblings of its node, and their tokens before it."""

    token: int
    rank: int
    earlier: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Verdict:
    """``accepted[i]`` = Pr(child i is the accepted one). With the rest of the mass none is, and
    ``then`` is what follows: a law, a token id, or None for nothing; ``unnamed`` where the rule
    does not say what."""

    accepted: tuple[Fraction, ...]
    then: Law | int | None = None
    unnamed: bool = False

    @property
    def rejected(self) -> Fraction:
        """Pr(no child is accepted)."""
        return _ONE - sum(self.accepted, _ZERO)


@dataclass(frozen=True, slots=True)
class Node:
    """The children after a prefix and the laws there. A one-hot draft role is the point mass at
    the child that is tested."""

    prefix: Prefix
    children: tuple[Child, ...]
    laws: PrefixLaws
    siblings: Siblings

    @property
    def tokens(self) -> tuple[int, ...]:
        """The tokens of the children."""
        return tuple(child.token for child in self.children)

    @property
    def tested_target(self) -> Law:
        """`accept_target` after the prefix."""
        return self.laws.law(Role.ACCEPT_TARGET, self.prefix)

    @property
    def left_target(self) -> Law:
        """`residual_target` after the prefix."""
        return self.laws.law(Role.RESIDUAL_TARGET, self.prefix)

    def tested(self, child: Child) -> Law:
        """`accept_draft` of the drafter of a child."""
        return self._draft(Role.ACCEPT_DRAFT, child)

    def subtracted(self, child: Child) -> Law:
        """`residual_draft` of the drafter of a child."""
        return self._draft(Role.RESIDUAL_DRAFT, child)

    def _draft(self, role: Role, child: Child) -> Law:
        if role in self.laws.one_hot:
            return point(child.token, self.laws.size)
        return self.laws.law(role, self.prefix, child.rank)

    def chance(
        self, child: Child, target: Law, tested: Law, use: RecipeStep, weight: Fraction = _ONE
    ) -> Fraction:
        """``min(1, weight target(x) / tested(x))`` for the token x of a child.

        Raises SettingsError where ``tested(x)`` is 0.
        """
        divisor = tested[child.token]
        if not divisor:
            raise untested(child.token, self.prefix, use)
        return at_most_one(weight * target[child.token], divisor)

    def verdict(self, accepted: Iterable[Fraction], left: Law, use: RecipeStep) -> Verdict:
        """The verdict with these chances whose recovered token follows the masses ``left``, or
        where they are all 0 what option ``empty`` of the rule says."""
        chances = tuple(accepted)
        if not _ONE - sum(chances, _ZERO):
            return Verdict(chances)
        found = recovered(_ONE, self.prefix, left, self.left_target, use)
        return Verdict(chances, found.then, found.unnamed)


NodeRule = Callable[[Node, RecipeStep], Verdict]
"""Raises SettingsError for parameters that make the rule invalid on these laws."""


def point(token: int, size: int) -> Law:
    """All mass on one token."""
    return tuple(_ONE if other == token else _ZERO for other in range(size))


def outside(law: Law, tokens: Iterable[int]) -> Law:
    """``law`` with 0 at ``tokens``, not normalised."""
    gone = set(tokens)
    return tuple(_ZERO if token in gone else mass for token, mass in enumerate(law))


def conditioned(law: Law, tokens: Iterable[int]) -> Law:
    """``law`` given that none of ``tokens`` was drawn; all 0 where it has no other."""
    left = outside(law, tokens)
    return normalised(left) or left


def excess(target: Law, draft: Law) -> Law:
    """``[target - draft]_+`` normalised; all 0 where the target is nowhere above."""
    left = positive_part(target, draft)
    return normalised(left) or left
