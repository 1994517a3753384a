"""What a rule takes and what it yields at one position: laws by role in, masses per token out."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction

from specdist.exact.vector import ExactVector
from specdist.model.numerics import EXACT, Numerics
from specdist.model.role import ONE_HOT_ROLES, Role

Share = Callable[[ExactVector], ExactVector]
"""A share k(x) v(x) of every entry of a vector, k in [0, 1]."""


@dataclass(frozen=True, slots=True)
class RoleLaws:
    """The laws of one position by role, as exact vectors over the same tokens.

    ``one_hot`` holds the draft roles that are the point mass at the drafted token, whatever it is;
    they have no entry in ``vectors``. ``same`` tells which roles are one real-valued law, whatever
    was rounded. ``captured`` holds rows that a capture gives to a rule: "accept", the acceptance
    probability of every token, and "recovery", the law of the recovered token.

    ``tried`` is the share of the drafted tokens that reach the test (None: all of them).
    ``offered`` is the drafted mass that the rule must account for, where that is more than what
    reaches the test: dropped tokens then count as rejected.
    """

    vectors: Mapping[Role, ExactVector]
    one_hot: frozenset[Role] = frozenset()
    same: Callable[[Role, Role], bool] = lambda first, second: first is second
    numerics: Numerics = EXACT
    captured: Mapping[str, ExactVector] | None = None
    tried: Share | None = None
    offered: ExactVector | None = None

    def __getitem__(self, role: Role) -> ExactVector:
        return self.vectors[role]

    @property
    def tests_one_hot(self) -> bool:
        """Whether both draft roles of test and residual are the point mass at the draft token."""
        return len(self.one_hot) == len(ONE_HOT_ROLES)

    @property
    def drafts_target(self) -> bool:
        """Whether the accepted target itself is drafted from and tested, as one real-valued law."""
        target, tested = Role.ACCEPT_TARGET, Role.ACCEPT_DRAFT
        return tested not in self.one_hot and all(
            self.same(tested, other) and self.vectors[tested].same_as(self.vectors[other])
            for other in (target, Role.DRAFTED_FROM)
        )

    def reaching(self, vector: ExactVector) -> ExactVector:
        """The share of a vector over drafted tokens that reaches the test."""
        return vector if self.tried is None else self.tried(vector)

    def refused(self, accepted: ExactVector) -> ExactVector:
        """Drafted mass per token that leads to a recovery: ``D(x) - accepted(x)``."""
        offered = self.offered
        if offered is None:
            offered = self.reaching(self.vectors[Role.DRAFTED_FROM])
        return offered - accepted


@dataclass(frozen=True, slots=True)
class Outcomes:
    """Accepted and recovered mass per token.

    ``accepted`` holds draft tokens that were kept, ``recovered`` everything else that is emitted.
    ``unassigned`` is rejected mass for which the rule names no token, because the residual is
    empty while a rejection is possible; with ``raises`` it is known that no token follows.
    ``accepted + recovered + unassigned`` sums to the drafted mass that reached the rule.
    """

    accepted: ExactVector
    recovered: ExactVector
    rejected: Fraction
    unassigned: Fraction = Fraction(0)
    raises: bool = False
