"""Recovery where `residual_draft` is the point mass at the drafted token.

Law. After rejecting x the residual is ``max(S(y) - [y = x], floor)``: S without x, or more
generally weights m(y) for y other than x and f(x) at x itself. With M = sum m and

    k(x) = refused(x) / (M - m(x) + f(x)),  K = sum k

the recovered mass is ``m(y) (K - k(y)) + f(y) k(y)``. Where a(x) = 1 - c (1 - S(x)) for a constant
c, k is c times the drafted mass that was tested, and nothing is divided.
"""

from __future__ import annotations

from fractions import Fraction

from specdist.exact.vector import ExactVector
from specdist.model.role import Role
from specdist.rules.outcomes import Outcomes, RoleLaws
from specdist.rules.residuals import emptied, floored, nothing_refused

_ZERO, _ONE = Fraction(0), Fraction(1)


def recovered_without_drafted(
    laws: RoleLaws,
    accepted: ExactVector,
    share: Fraction | None = _ONE,
    *,
    weights: ExactVector | None = None,
    at_drafted: ExactVector | None = None,
) -> Outcomes:
    """The law of the module docstring with m = ``weights`` and f = ``at_drafted``, by default S and
    0, both at least the residual floor. ``share`` is the c of a test ``a = 1 - c (1 - P(x))``, None
    for any other test."""
    target = laws[Role.RESIDUAL_TARGET]
    if share is not None and weights is None and _cancels(laws):
        tested = laws.reaching(laws[Role.DRAFTED_FROM])
        beside = target.scaled(tested.total(), tested.error) - tested.product(target)
        return Outcomes(accepted, beside.scaled(share), laws.refused(accepted).total())
    refused = laws.refused(accepted)
    rejected = refused.total()
    if not rejected:
        return nothing_refused(accepted, refused)
    floor = laws.numerics.residual_floor
    if weights is None:
        weights = floored(target, floor)
    if at_drafted is None and floor:
        at_drafted = target.constant(floor)
    return _divided(laws, accepted, rejected, weights, at_drafted)


def _cancels(laws: RoleLaws) -> bool:
    """Whether 1 - P(x) in the test is the 1 - S(x) of the residual."""
    return (
        Role.ACCEPT_DRAFT in laws.one_hot
        and laws.numerics.ideal
        and laws.offered is None
        and laws.same(Role.ACCEPT_TARGET, Role.RESIDUAL_TARGET)
    )


def _divided(
    laws: RoleLaws,
    accepted: ExactVector,
    rejected: Fraction,
    weights: ExactVector,
    at_drafted: ExactVector | None,
) -> Outcomes:
    mass = weights.total()
    law = weights.scaled(1 / mass)
    left_out = law if at_drafted is None else law - at_drafted.scaled(1 / mass)
    shares, lost = laws.refused(accepted).over_complement(left_out)
    everything = shares.total()
    recovered = shares.scaled(_ZERO)
    if everything:
        unit = shares.scaled(1 / everything)  # so that errors of products are those of laws
        recovered = law.scaled(everything, shares.error) - unit.product(law).scaled(everything)
        if at_drafted is not None:
            recovered += unit.product(at_drafted.scaled(1 / mass)).scaled(everything)
    outcomes = Outcomes(accepted, recovered, rejected)
    return emptied(laws, outcomes, lost, shares.error) if lost else outcomes
