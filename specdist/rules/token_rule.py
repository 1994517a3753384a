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
from specdist.model.role import Role
from specdist.rules.outcomes import Outcomes, RoleLaws

_ZERO = Fraction(0)


def token_outcomes(laws: RoleLaws) -> Outcomes:
    """Accepted and recovered mass of every token under token verification (module docstring)."""
    accepted = _accepted(laws)
    rejected = 1 - accepted.total()
    nothing = accepted.scaled(_ZERO)
    if not rejected:
        return Outcomes(accepted, nothing, _ZERO)
    if Role.RESIDUAL_DRAFT in laws.one_hot:
        return _recovered_without_drafted(laws, accepted, rejected)
    residual = (laws[Role.RESIDUAL_TARGET] - laws[Role.RESIDUAL_DRAFT]).positive_part()
    mass = residual.total()
    if not mass:
        return Outcomes(accepted, nothing, rejected, unassigned=rejected)
    # |norm(v) - norm(v')|_1 <= 2 |v - v'|_1 / |v|_1, and norms differ by at most 2.
    error = rejected * min(2 * residual.error / mass, Fraction(2)) + accepted.error
    return Outcomes(accepted, residual.scaled(rejected / mass).widened(error), rejected)


def _accepted(laws: RoleLaws) -> ExactVector:
    drafted = laws[Role.DRAFTED_FROM]
    if Role.ACCEPT_DRAFT in laws.one_hot:
        return drafted.product(laws[Role.ACCEPT_TARGET])
    return drafted.accepted_from(laws[Role.ACCEPT_TARGET], laws[Role.ACCEPT_DRAFT], laws.zero_draft)


def _recovered_without_drafted(
    laws: RoleLaws, accepted: ExactVector, rejected: Fraction
) -> Outcomes:
    """Recovery from S without the drafted token: ``S(y) (K - k(y))`` with
    ``k(x) = D(x) (1 - a(x)) / (1 - S(x))`` and ``K = sum k``."""
    target, drafted = laws[Role.RESIDUAL_TARGET], laws[Role.DRAFTED_FROM]
    if Role.ACCEPT_DRAFT in laws.one_hot and laws.same_target:
        # 1 - a = 1 - S cancels: k = D, K = 1.
        return Outcomes(accepted, target - drafted.product(target), rejected)
    shares, unassigned = (drafted - accepted).over_complement(target)
    everything = shares.total()
    recovered = target.scaled(everything, shares.error) - shares.product(target)
    return Outcomes(accepted, recovered, rejected, unassigned)
