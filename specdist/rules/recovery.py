"""What is emitted after a rejection: residuals, and what engines do where one is empty."""

from __future__ import annotations

from fractions import Fraction

from specdist.exact.vector import ExactVector
from specdist.model.role import Role
from specdist.rules.outcomes import Outcomes, RoleLaws

_ZERO = Fraction(0)


def residual(laws: RoleLaws) -> ExactVector:
    """``max(S - U, floor)`` with S = `residual_target`, U = `residual_draft`, not normalised."""
    positive = (laws[Role.RESIDUAL_TARGET] - laws[Role.RESIDUAL_DRAFT]).positive_part()
    floor = laws.numerics.residual_floor
    if not floor:
        return positive
    least = positive.constant(floor)
    return (positive - least).positive_part() + least


def recovered_from(
    laws: RoleLaws, accepted: ExactVector, weights: ExactVector, extra_error: Fraction = _ZERO
) -> Outcomes:
    """Outcomes of a rule that recovers every rejection from one law, ``weights / sum weights``.

    Where the weights are all 0 and a rejection is possible, the numeric model says what comes out.
    ``extra_error`` is added to that of the recovered mass.
    """
    rejected = laws.refused(accepted).total()
    nothing = accepted.scaled(_ZERO)
    if not rejected:
        return Outcomes(accepted, nothing, _ZERO)
    mass = weights.total()
    if not mass:
        return _empty(laws, accepted, rejected)
    # |norm(v) - norm(v')|_1 <= 2 |v - v'|_1 / |v|_1, and norms differ by at most 2.
    error = rejected * min(2 * weights.error / mass, Fraction(2)) + accepted.error + extra_error
    return Outcomes(accepted, weights.scaled(rejected / mass).widened(error), rejected)


def _empty(laws: RoleLaws, accepted: ExactVector, rejected: Fraction) -> Outcomes:
    policy = laws.numerics.empty_residual
    target = laws[Role.RESIDUAL_TARGET]
    if policy.how == "target":
        return Outcomes(accepted, target.scaled(rejected / target.total()), rejected)
    if policy.how == "token":
        return Outcomes(accepted, point(target, policy.token).scaled(rejected), rejected)
    nothing = accepted.scaled(_ZERO)
    return Outcomes(accepted, nothing, rejected, rejected, raises=policy.how == "none")


def point(like: ExactVector, token: int) -> ExactVector:
    """The point mass at one token; -1 is the last of the vocabulary.

    Raises SettingsError for a token outside the vocabulary.
    """
    size = like.size
    chosen = size - 1 if token < 0 else token
    if chosen >= size:
        from specdist.errors import SettingsError

        raise SettingsError(
            f"empty-residual=token:{token} is outside the vocabulary",
            expected=f"a token id from 0 to {size - 1}",
        )
    return like.constant(Fraction(1)).among([chosen])
