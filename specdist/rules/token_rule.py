"""Token verification, the rule of speculative sampling.

Law. Draft x from D (`drafted_from`), accept it with probability

    a(x) = min(1, P(x) / Q(x))      P = `accept_target`, Q = `accept_draft`,

and otherwise emit y from the residual ``r(y) = [S(y) - U(y)]_+ / sum [S - U]_+`` with
S = `residual_target`, U = `residual_draft`. Accepted mass is ``D(x) a(x)``, recovered mass
``sum_x D(x) (1 - a(x)) r(y)``. Where Q is one-hot at the drafted token, a(x) = P(x); where U is,
the residual after rejecting x is S without x: ``r(y | x) = S(y) [y != x] / (1 - S(x))``.

Lossless when all target roles are the reference and D = Q = U, or Q and U are one-hot (then for
every D). Sources: Leviathan et al. 2211.17192, algorithm 1 and appendix A.1; Chen et al.
2302.01318, algorithm 2; the one-hot case as in vLLM 0.33.0, `v1/sample/rejection_sampler.py`, when
no draft probabilities are passed.
"""

from __future__ import annotations

from fractions import Fraction

from specdist.exact.vector import ExactVector
from specdist.model.recipe import RecipeStep
from specdist.model.role import Role
from specdist.rules.outcomes import Outcomes, RoleLaws
from specdist.rules.recovery import recovered_from, residual
from specdist.rules.rule import Rule

_ZERO = Fraction(0)


def token_outcomes(laws: RoleLaws, use: RecipeStep) -> Outcomes:
    """Accepted and recovered mass of every token under token verification (module docstring)."""
    accepted = laws.reaching(accepted_by_ratio(laws))
    if Role.RESIDUAL_DRAFT in laws.one_hot:
        return recovered_without_drafted(laws, accepted)
    if not laws.refused(accepted).total():
        return Outcomes(accepted, accepted.scaled(_ZERO), _ZERO)
    return recovered_from(laws, accepted, residual(laws))


def accepted_by_ratio(laws: RoleLaws) -> ExactVector:
    """``D(x) a(x)`` before any draft token is dropped."""
    drafted, target = laws[Role.DRAFTED_FROM], laws[Role.ACCEPT_TARGET]
    test = laws.numerics.accept_test()
    if Role.ACCEPT_DRAFT not in laws.one_hot:
        return drafted.accepted_from(target, laws[Role.ACCEPT_DRAFT], test)
    if test.ideal and not laws.numerics.unnormalised:
        return drafted.product(target)
    return drafted.accepted_from(target, drafted.constant(Fraction(1)), test)


def recovered_without_drafted(laws: RoleLaws, accepted: ExactVector) -> Outcomes:
    """Recovery from S without the drafted token: ``S(y) (K - k(y))`` with
    ``k(x) = D(x) (1 - a(x)) / (1 - S(x))`` and ``K = sum k``."""
    target, drafted = laws[Role.RESIDUAL_TARGET], laws[Role.DRAFTED_FROM]
    refused = laws.refused(accepted)
    rejected = refused.total()
    if not rejected:
        return Outcomes(accepted, accepted.scaled(_ZERO), _ZERO)
    same = laws.same(Role.ACCEPT_TARGET, Role.RESIDUAL_TARGET)
    cancels = Role.ACCEPT_DRAFT in laws.one_hot and same and laws.numerics.ideal
    if cancels and laws.offered is None:
        # 1 - a = 1 - S cancels: k is what was tested.
        tested = laws.reaching(drafted)
        recovered = target.scaled(tested.total(), tested.error) - tested.product(target)
        return Outcomes(accepted, recovered, rejected)
    if laws.numerics.unnormalised:
        target = target.scaled(1 / target.total())
    shares, unassigned = refused.over_complement(target)
    everything = shares.total()
    recovered = target.scaled(everything, shares.error) - shares.product(target)
    return Outcomes(accepted, recovered, rejected, unassigned)


TOKEN = Rule("token", "token verification", "lossless", token_outcomes, __doc__ or "")
