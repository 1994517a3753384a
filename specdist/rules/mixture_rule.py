"""Token verification towards a mixture of target and draft.

Law. With ``h = LAMBDA P + (1 - LAMBDA) Q`` in the test and ``LAMBDA S + (1 - LAMBDA) U`` in the
residual, token verification: ``a(x) = min(1, h(x) / Q(x))``. Tested as drafted, the output law is
h itself, acceptance ``1 - LAMBDA TV(P, Q)``, total variation ``(1 - LAMBDA) TV(P, Q)``, the least
possible for that acceptance. A one-hot draft row makes h = LAMBDA P + (1 - LAMBDA) [y = x].
LAMBDA is the target's weight; lossless at 1.

Sources: transformers 5.24.0, `assistant_ensemble_weight`, whose ratio is ``1 - w + w P/Q``;
collaborative decoding as in 2607.26627.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from specdist.exact.vector import ExactVector
from specdist.model.recipe import RecipeStep
from specdist.model.role import Role
from specdist.model.value_texts import Interval, number_within
from specdist.rules.one_hot_residual import recovered_without_drafted
from specdist.rules.outcomes import Outcomes, RoleLaws
from specdist.rules.recovery import recover, recovered_from
from specdist.rules.residuals import floored
from specdist.rules.rule import Rule
from specdist.rules.token_rule import accepted_by_ratio, token_verification

_ONE = Fraction(1)


def mixture_outcomes(laws: RoleLaws, use: RecipeStep) -> Outcomes:
    """Accepted and recovered mass of every token under a mixture (module docstring)."""
    weight = use.number()
    if weight == 1:
        return token_verification(laws)
    mixed = dict(laws.vectors)
    mixed[Role.ACCEPT_TARGET] = _mixed(laws, Role.ACCEPT_TARGET, Role.ACCEPT_DRAFT, weight)
    towards = replace(laws, vectors=mixed)
    accepted = laws.reaching(_accepted(laws, towards, weight))
    if Role.RESIDUAL_DRAFT in laws.one_hot:
        return _beside_the_drafted(laws, accepted, weight)
    mixed[Role.RESIDUAL_TARGET] = _mixed(laws, Role.RESIDUAL_TARGET, Role.RESIDUAL_DRAFT, weight)
    return recover(towards, accepted, "residual")


def _accepted(laws: RoleLaws, towards: RoleLaws, weight: Fraction) -> ExactVector:
    numerics = laws.numerics
    plain = numerics.accept_test().ideal and not numerics.unnormalised
    if not plain or Role.ACCEPT_DRAFT not in laws.one_hot:
        return accepted_by_ratio(towards)
    drafted = laws[Role.DRAFTED_FROM]
    return accepted_by_ratio(laws).scaled(weight) + drafted.scaled(1 - weight)


def _beside_the_drafted(laws: RoleLaws, accepted: ExactVector, weight: Fraction) -> Outcomes:
    """The residual ``max(LAMBDA S(y), floor)`` for y other than the drafted x, floor at x."""
    floor = laws.numerics.residual_floor
    scaled = laws[Role.RESIDUAL_TARGET].scaled(weight)
    if floor:
        return recovered_without_drafted(laws, accepted, weights=floored(scaled, floor))
    if not weight:
        return recovered_from(laws, accepted, scaled)
    return recovered_without_drafted(laws, accepted, weight)


def _mixed(laws: RoleLaws, target: Role, draft: Role, weight: Fraction) -> ExactVector:
    """``weight target + (1 - weight) draft``; its relative error is the larger of the two."""
    goal = laws[target]
    drafted = goal.constant(_ONE) if draft in laws.one_hot else laws[draft]
    blended = goal.scaled(weight) + drafted.scaled(1 - weight)
    return blended.widened(max(goal.error, drafted.error))


MIXTURE = Rule(
    "mixture",
    "token verification towards a mixture",
    "lossy",
    mixture_outcomes,
    metavar="LAMBDA",
    value=number_within(Interval(low=Fraction(0), high=_ONE)),
    neutral=lambda use: use.number() == 1,
)
