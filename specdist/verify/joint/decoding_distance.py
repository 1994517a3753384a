"""How far apart the decoding laws of two settings lie over whole outputs of one step."""

from __future__ import annotations

from fractions import Fraction

from specdist.exact.rational_vector import relative_to_absolute
from specdist.model.capture import Step
from specdist.model.conditional import Prefix
from specdist.model.role import Role
from specdist.model.settings import CheckSettings
from specdist.verify.joint.prefix_laws import ModelLaws, require_models
from specdist.verify.plan import Plan
from specdist.verify.proposal_shape import proposal_tree

Chosen = tuple[Plan, CheckSettings]
_ZERO, _ONE = Fraction(0), Fraction(1)


def decoding_distance(step: Step, first: Chosen, other: Chosen) -> tuple[Fraction, Fraction] | None:
    """Total variation between the two joint laws of the first K reference tokens, and its bound:
    ``sum over z of [P_1(z) - P_2(z)]+`` with ``P(z) = prod P(z_i | z_<i)``.

    K is the horizon of the first settings. None where that may be more outputs than a run lists.
    Raises CaptureError for a prefix without a row.
    """
    plan, settings = first
    if plan.recipes.recipes[Role.REFERENCE] == other[0].recipes.recipes[Role.REFERENCE]:
        return _ZERO, _ZERO
    horizon = settings.horizon or proposal_tree(step, settings).depth + 1
    one, two = _laws(step, first), _laws(step, other)
    if one.size**horizon > settings.max_outcomes:
        return None
    return _above(one, two, (), horizon, _ONE, _ONE), horizon * (_off(one) + _off(two)) / 2


def _laws(step: Step, chosen: Chosen) -> ModelLaws:
    plan, settings = chosen
    return ModelLaws(step, require_models(step), proposal_tree(step, settings), plan, settings)


def _off(laws: ModelLaws) -> Fraction:
    return relative_to_absolute(laws.met.bound)


def _above(
    one: ModelLaws, two: ModelLaws, prefix: Prefix, left: int, first: Fraction, second: Fraction
) -> Fraction:
    """How much more ``one`` puts on the outputs that begin with a prefix, output by output."""
    if not first or not second or not left:
        return max(first - second, _ZERO)
    pairs = zip(one.law(Role.REFERENCE, prefix), two.law(Role.REFERENCE, prefix), strict=True)
    return sum(
        (
            _above(one, two, (*prefix, token), left - 1, first * mine, second * other)
            for token, (mine, other) in enumerate(pairs)
        ),
        _ZERO,
    )
