"""Token verification of a chain, position by position, as outcomes of one proposal.

Law. For draft tokens x_1 .. x_g and the prefix z = x_1 .. x_(i-1) accept x_i with probability

    a_i = min(1, P(x_i | z) / Q(x_i | z))      P = `accept_target`, Q = `accept_draft`,

in order, and stop at the first rejection. After a rejection of x_i the next token is drawn from
``[S(y | z) - U(y | z)]_+``, normalised, with S = `residual_target`, U = `residual_draft`; after g
acceptances from `bonus_from` at the whole prefix. A one-hot Q makes ``a_i = P(x_i | z)``, and a
one-hot U leaves S without x_i.

    Pr(accepted length >= i | x) = a_1 a_2 .. a_i

Lossless when all target roles are the reference and the drafted law is Q = U, or Q and U are
one-hot. Sources: Leviathan et al. 2211.17192, algorithm 1; Chen et al. 2302.01318, algorithm 2.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from specdist.errors import SettingsError
from specdist.exact.bounded import at_most_one
from specdist.model.conditional import Prefix
from specdist.model.draft_tree import DraftTree
from specdist.model.recipe import RecipeStep
from specdist.model.role import Role
from specdist.rules.joint.joint_rule import JointRule
from specdist.rules.joint.outcomes import Drafted, Law, Outcome, PrefixLaws
from specdist.rules.joint.recovered import EMPTY, positive_part, recovered, untested, without

_ONE = Fraction(1)


def token_chain_outcomes(drafted: Drafted, laws: PrefixLaws, use: RecipeStep) -> Iterator[Outcome]:
    """The outcomes of a chain of draft tokens: one for each accepted length that is possible.

    Raises SettingsError for a tree and for a drafted token whose tested probability is 0. Where a
    rejection meets an empty residual, option ``empty`` says what follows.
    """
    require_chain(drafted.tree, laws, use)
    tokens, reached = drafted.tokens, _ONE
    for index, token in enumerate(tokens):
        prefix = tokens[:index]
        chance = acceptance(token, prefix, laws, use)
        if 1 - chance:
            target = laws.law(Role.RESIDUAL_TARGET, prefix)
            left = _residual(token, prefix, target, laws)
            yield recovered(reached * (1 - chance), prefix, left, target, use)
        reached *= chance
        if not reached:
            return
    yield Outcome(reached, tokens, laws.law(Role.BONUS_FROM, tokens), bonus=True)


def acceptance(
    token: int, prefix: Prefix, laws: PrefixLaws, use: RecipeStep, weight: Fraction = _ONE
) -> Fraction:
    """``min(1, weight P(token) / Q(token))`` after ``prefix``, Q(token) = 1 where Q is one-hot.

    Raises SettingsError where Q(token) is 0.
    """
    target, tested = laws.law(Role.ACCEPT_TARGET, prefix)[token], _ONE
    if Role.ACCEPT_DRAFT not in laws.one_hot:
        tested = laws.law(Role.ACCEPT_DRAFT, prefix)[token]
    if not tested:
        raise untested(token, prefix, use)
    return at_most_one(target if weight == 1 else weight * target, tested)


def require_chain(tree: DraftTree, laws: PrefixLaws, use: RecipeStep) -> None:
    """Raises SettingsError for a proposal that is no chain."""
    if not tree.is_chain:
        raise SettingsError(
            f"{use.text} verifies a chain of draft tokens, and the proposal is {tree.shape}",
            expected="at most one child for every node",
            advice="write --draft-length N, or choose a rule for trees",
        )


def _residual(token: int, prefix: Prefix, target: Law, laws: PrefixLaws) -> Law:
    if Role.RESIDUAL_DRAFT in laws.one_hot:
        return without(target, token)
    return positive_part(target, laws.law(Role.RESIDUAL_DRAFT, prefix))


TOKEN_CHAIN = JointRule(
    "token-chain",
    "token verification of a chain",
    "lossless",
    token_chain_outcomes,
    check=require_chain,
    options=(EMPTY,),
    per_node=True,
)
