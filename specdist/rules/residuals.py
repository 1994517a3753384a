"""The pieces of every recovery: floors, point masses, and what follows where nothing is left."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from specdist.errors import SettingsError
from specdist.exact.vector import ExactVector
from specdist.model.role import Role
from specdist.rules.outcomes import Outcomes, RoleLaws

_ZERO = Fraction(0)


def nothing_refused(accepted: ExactVector, refused: ExactVector) -> Outcomes:
    """The outcomes where no drafted token is rejected, as far as rounding tells: beyond doubt
    where the accepted mass is the drafted one, error included."""
    nothing = accepted.scaled(_ZERO)
    certain = refused.vanishes_identically() and 2 * accepted.error <= refused.error
    if not certain:
        nothing = nothing.doubted(refused.error)
    return Outcomes(accepted, nothing, _ZERO)


def floored(positive: ExactVector, floor: Fraction) -> ExactVector:
    """``max(v(x), floor)`` for v at least 0."""
    if not floor:
        return positive
    least = positive.constant(floor)
    return (positive - least).positive_part() + least


def emptied(laws: RoleLaws, outcomes: Outcomes, lost: Fraction, error: Fraction) -> Outcomes:
    """The outcomes with what the numeric model says of ``lost``, rejected mass whose residual is
    empty, within ``error``."""
    policy = laws.numerics.empty_residual
    target = laws[Role.RESIDUAL_TARGET]
    recovered = outcomes.recovered.widened(outcomes.recovered.error + error)
    if policy.how == "target":
        law = target.scaled(1 / target.total())
        recovered += law.scaled(lost)
    elif policy.how == "token":
        recovered += point(target, policy.token).scaled(lost)
    else:
        raises = policy.how == "none"
        return replace(outcomes, recovered=recovered, unassigned=lost, raises=raises)
    return replace(outcomes, recovered=recovered)


def point(like: ExactVector, token: int) -> ExactVector:
    """The point mass at one token; -1 is the last of the vocabulary.

    Raises SettingsError for a token outside the vocabulary.
    """
    size = like.size
    chosen = size - 1 if token < 0 else token
    if chosen >= size:
        raise SettingsError(
            f"empty-residual=token:{token} is outside the vocabulary",
            expected=f"a token id from 0 to {size - 1}",
        )
    return like.constant(Fraction(1)).among([chosen])
