"""Token verification, the rule of speculative sampling.

Law. Draft x from D (`drafted_from`), accept it with probability

    a(x) = min(1, P(x) / Q(x))      P = `accept_target`, Q = `accept_draft`,

and otherwise emit y from the residual ``r(y) = [S(y) - U(y)]_+ / sum [S - U]_+`` with
S = `residual_target`, U = `residual_draft`. Accepted mass is ``D(x) a(x)``, recovered mass
``sum_x D(x) (1 - a(x)) r(y)``. Where Q is one-hot at the drafted token, a(x) = P(x); where U is,
the residual after rejecting x is S without x: ``r(y | x) = S(y) [y != x] / (1 - S(x))``.

Lossless when all target roles are the reference and D = Q = U, or Q and U are one-hot (then for
every D). Any other ``recovery`` is a mistake that engines made. Sources: Leviathan et al.
2211.17192, algorithm 1 and appendix A.1; Chen et al. 2302.01318, algorithm 2; the one-hot case as
in vLLM 0.33.0, `v1/sample/rejection_sampler.py`, when no draft probabilities are passed.
"""

from __future__ import annotations

from fractions import Fraction

from specdist.exact.vector import ExactVector
from specdist.model.recipe import RecipeStep
from specdist.model.role import Role
from specdist.rules.one_hot_residual import recovered_without_drafted
from specdist.rules.outcomes import Outcomes, RoleLaws
from specdist.rules.recovery import recover, recovery_option
from specdist.rules.rule import Rule

_ONE = Fraction(1)


def token_outcomes(laws: RoleLaws, use: RecipeStep) -> Outcomes:
    """Accepted and recovered mass of every token under token verification (module docstring)."""
    return token_verification(laws, use.word("recovery"))


def token_verification(laws: RoleLaws, recovery: str = "residual") -> Outcomes:
    """`token_outcomes` with a recovery by name."""
    accepted = laws.reaching(accepted_by_ratio(laws))
    if recovery == "residual" and Role.RESIDUAL_DRAFT in laws.one_hot:
        return recovered_without_drafted(laws, accepted)
    return recover(laws, accepted, recovery)


def accepted_by_ratio(laws: RoleLaws, share: Fraction = _ONE) -> ExactVector:
    """``D(x) min(1, P(x) / (share Q(x)))`` before any draft token is dropped."""
    drafted, target = laws[Role.DRAFTED_FROM], laws[Role.ACCEPT_TARGET]
    test = laws.numerics.accept_test()
    if test.ideal and laws.drafts_target:
        return drafted
    if Role.ACCEPT_DRAFT not in laws.one_hot:
        tested = laws[Role.ACCEPT_DRAFT]
        if share != 1:  # an error of quotients is relative, and a constant leaves it as it is
            tested = tested.scaled(share).widened(tested.error)
        return drafted.accepted_from(target, tested, test)
    tested = drafted.constant(share)
    if not test.ideal or laws.numerics.unnormalised:
        return drafted.accepted_from(target, tested, test)
    if share == 1:
        return drafted.product(target)
    return drafted.product(target.minimum(tested).scaled(1 / share).widened(target.error))


def _known_mistake(use: RecipeStep) -> bool:
    return use.word("recovery") != "residual"


TOKEN = Rule(
    "token",
    "token verification",
    "lossless",
    token_outcomes,
    options=(recovery_option("residual", "target", "argmax", "softmax", default="residual"),),
    mistaken=_known_mistake,
    whole_vocabulary=lambda use: use.word("recovery") == "softmax",
)
