"""What a rule yields at one position: masses per token, nothing derived from them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from specdist.exact.vector import ExactVector
from specdist.model.role import Role


@dataclass(frozen=True, slots=True)
class RoleLaws:
    """The laws of one position by role, as exact vectors over the same tokens.

    ``one_hot`` holds the draft roles that are the point mass at the drafted token, whatever it is;
    they have no entry in ``vectors``. ``same_target`` tells whether `accept_target` and
    `residual_target` are one real-valued law.
    """

    vectors: Mapping[Role, ExactVector]
    one_hot: frozenset[Role]
    same_target: bool
    zero_draft: str = "error"

    def __getitem__(self, role: Role) -> ExactVector:
        return self.vectors[role]


@dataclass(frozen=True, slots=True)
class Outcomes:
    """Accepted and recovered mass per token.

    ``unassigned`` is rejected mass for which the rule names no token, because the residual is
    empty while a rejection is possible. ``accepted + recovered + unassigned`` sums to one.
    """

    accepted: ExactVector
    recovered: ExactVector
    rejected: Fraction
    unassigned: Fraction = Fraction(0)
