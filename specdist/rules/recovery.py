"""What is emitted after a rejection: residuals, other laws that engines use, and last resorts."""

from __future__ import annotations

from fractions import Fraction

from specdist.exact.exponential import exponentials
from specdist.exact.vector import ExactVector
from specdist.model.role import Role
from specdist.model.step_forms import Option
from specdist.model.value_texts import one_of
from specdist.rules.one_hot_residual import recovered_without_drafted
from specdist.rules.outcomes import Outcomes, RoleLaws, Share
from specdist.rules.residuals import emptied, floored, nothing_refused, point

_ZERO, _ONE = Fraction(0), Fraction(1)
_MEANING = {
    "residual": "the positive part of residual_target - residual_draft",
    "scaled": "the positive part of residual_target - L residual_draft",
    "target": "residual_target itself",
    "argmax": "the lowest id of its largest probability",
    "set": "residual_target within the accepted tokens",
    "softmax": "the softmax of the residual",
}


def recovery_option(*kinds: str, default: str = "") -> Option:
    """The option that names the law of the recovered token."""
    summary = "; ".join(f"{kind}: {_MEANING[kind]}" for kind in kinds)
    return Option("recovery", one_of(*kinds), default, f"what follows a rejection. {summary}")


def recover(
    laws: RoleLaws,
    accepted: ExactVector,
    kind: str,
    chosen: Share | None = None,
    one_hot_share: Fraction | None = None,
) -> Outcomes:
    """Outcomes of a rule with this accepted mass that recovers by ``kind`` (`recovery_option`).

    ``chosen`` restricts a vector to the accepted tokens, for ``set``. ``one_hot_share`` is for
    `recovered_without_drafted`.
    """
    if kind == "residual" and Role.RESIDUAL_DRAFT in laws.one_hot:
        return recovered_without_drafted(laws, accepted, one_hot_share)
    refused = laws.refused(accepted)
    if not refused.total():
        return nothing_refused(accepted, refused)
    target = laws[Role.RESIDUAL_TARGET]
    if kind == "residual":
        return recovered_from(laws, accepted, residual(laws))
    if kind == "target":
        return recovered_from(laws, accepted, target)
    if kind == "set" and chosen is not None:
        return recovered_from(laws, accepted, chosen(target))
    if kind == "argmax":
        return _recovered_by_argmax(laws, accepted, target)
    if kind == "softmax":
        return _recovered_by_softmax(laws, accepted)
    raise ValueError(f"no recovery is called {kind}")


def residual(laws: RoleLaws, share: Fraction = _ONE) -> ExactVector:
    """``max(S - share U, floor)`` with S = `residual_target`, U = `residual_draft`, not
    normalised."""
    subtracted = laws[Role.RESIDUAL_DRAFT].scaled(share)
    positive = (laws[Role.RESIDUAL_TARGET] - subtracted).positive_part()
    return floored(positive, laws.numerics.residual_floor)


def recovered_from(
    laws: RoleLaws, accepted: ExactVector, weights: ExactVector, extra_error: Fraction = _ZERO
) -> Outcomes:
    """Outcomes of a rule that recovers every rejection from one law, ``weights / sum weights``.

    Where the weights are all 0 and a rejection is possible, the numeric model says what comes out.
    ``extra_error`` is added to that of the recovered mass, for a law that rounding leaves open.
    """
    refused = laws.refused(accepted)
    rejected = refused.total()
    if not rejected:
        return nothing_refused(accepted, refused)
    mass = weights.total()
    if not mass:
        nothing = accepted.scaled(_ZERO)
        if weights.error and not equal_rows(laws):
            nothing = nothing.doubted(2 * rejected)
        return emptied(laws, Outcomes(accepted, nothing, rejected), rejected, accepted.error)
    # |norm(v) - norm(v')|_1 <= 2 |v - v'|_1 / |v|_1, and norms differ by at most 2.
    error = rejected * min(2 * weights.error / mass, Fraction(2)) + accepted.error
    recovered = weights.scaled(rejected / mass).widened(error).doubted(extra_error)
    return Outcomes(accepted, recovered, rejected)


def equal_rows(laws: RoleLaws) -> bool:
    """Whether the residual is empty beyond doubt."""
    dense = Role.RESIDUAL_DRAFT not in laws.one_hot
    return dense and laws.same(Role.RESIDUAL_TARGET, Role.RESIDUAL_DRAFT)


def _recovered_by_argmax(laws: RoleLaws, accepted: ExactVector, target: ExactVector) -> Outcomes:
    """Everything on the lowest id of the largest entry. Where rounding may hide another largest
    entry, all the recovered mass is uncertain; entries of one value tie by construction."""
    first, *others = target.largest(2)
    gap = target.value(first) - target.value(others[0]) if others else _ONE
    unsure = 0 < gap <= target.error
    rejected = laws.refused(accepted).total()
    doubt = 2 * rejected if unsure else _ZERO
    return recovered_from(laws, accepted, point(target, first), doubt)


def _recovered_by_softmax(laws: RoleLaws, accepted: ExactVector) -> Outcomes:
    """``exp([S - U]_+)``, normalised: every token of the vocabulary can be emitted."""
    if Role.RESIDUAL_DRAFT in laws.one_hot:
        weights = exponentials(laws[Role.RESIDUAL_TARGET])
        return recovered_without_drafted(
            laws, accepted, weights=weights, at_drafted=weights.constant(_ONE)
        )
    positive = (laws[Role.RESIDUAL_TARGET] - laws[Role.RESIDUAL_DRAFT]).positive_part()
    return recovered_from(laws, accepted, exponentials(positive))
