"""Classical rejection sampling with an envelope.

Law. ``M = max P(x) / Q(x)`` over the tokens that can be drafted; accept x with probability
``P(x) / (M Q(x))``, else emit from S. Tested as drafted (D = Q), accepted mass is P / M and the
output law is ``P / M + (1 - 1/M) S``, the target where S = P; acceptance 1/M, against 1 - TV(P, Q)
for token verification.

Raises SettingsError where Q does not cover P, and where Q is one-hot. Source: von Neumann's
rejection sampling, as compared in Leviathan et al. 2211.17192, appendix A.2.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from specdist.errors import SettingsError
from specdist.exact.envelope import LargestRatio, largest_ratio
from specdist.exact.vector import ExactVector
from specdist.model.recipe import RecipeStep
from specdist.model.role import Role
from specdist.rules.outcomes import Outcomes, RoleLaws
from specdist.rules.recovery import recover
from specdist.rules.rule import Rule, target_as_reference


def classical_outcomes(laws: RoleLaws, use: RecipeStep) -> Outcomes:
    """Accepted and recovered mass of every token under rejection sampling (module docstring)."""
    drafted, target = laws[Role.DRAFTED_FROM], laws[Role.ACCEPT_TARGET]
    tested = covering(laws)
    ratio = largest_ratio(target, tested, drafted)
    if not ratio.value:
        raise SettingsError(
            "rule classical: no token that is drafted has target mass, so the envelope is 0",
            expected="a draft law that reaches the target",
        )
    accepted = laws.reaching(_accepted(laws, tested, ratio))
    return recover(laws, accepted, "target")


def _accepted(laws: RoleLaws, tested: ExactVector, ratio: LargestRatio) -> ExactVector:
    """``D P / (M Q)``, which is ``P / M`` where D is Q."""
    drafted, target = laws[Role.DRAFTED_FROM], laws[Role.ACCEPT_TARGET]
    test = replace(laws.numerics.accept_test(), epsilon=Fraction(0))
    if test.ideal and drafted.same_as(tested):
        error = (target.error + ratio.error) / ratio.value
        return target.scaled(1 / ratio.value).widened(min(error, Fraction(2)))
    error = (1 + tested.error) * (1 + ratio.error) - 1
    raised = tested.scaled(ratio.value).widened(error)
    return drafted.accepted_from(target, raised, test)


def covering(laws: RoleLaws) -> ExactVector:
    """`accept_draft`, where it is above 0 wherever the target is."""
    target = laws[Role.ACCEPT_TARGET]
    if Role.ACCEPT_DRAFT in laws.one_hot:
        raise SettingsError(
            "rule classical divides by a whole draft row, and accept_draft is one-hot",
            expected="a draft row that is above 0 wherever the target is",
            advice="--rule one-hot is the rule for drafts without a row",
        )
    tested = laws[Role.ACCEPT_DRAFT]
    outside = target.positive_where_zero(tested)
    if outside is not None:
        raise SettingsError(
            f"rule classical: the draft gives token {outside.token} probability 0, the target "
            "does not",
            expected="accept_draft above 0 wherever accept_target is",
            advice="no envelope M Q lies above such a target; --rule token needs none",
        )
    return tested


def _sufficient(laws: RoleLaws) -> bool:
    """Tested as drafted; `residual_draft` plays no part."""
    return target_as_reference(laws) and laws.same(Role.DRAFTED_FROM, Role.ACCEPT_DRAFT)


CLASSICAL = Rule(
    "classical",
    "rejection sampling with an envelope",
    "lossless",
    classical_outcomes,
    sufficient=_sufficient,
)
