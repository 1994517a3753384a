"""Greedy drafts: all children of a node but the last are fixed, and the last one is drawn.

Law. Children t_1 .. t_(n-1), x after a prefix, Top the fixed ones, T and U the rows `accept_draft`
and `residual_draft` of the last child without Top, renormalised, A = `accept_target`,
S = `residual_target`. The drawn child is tested first, and what that leaves accepts the others:

    accept x with probability   min(1, A(x) / T(x));   otherwise draw y from norm [S - U]_+,
    accept t_i if y = t_i, emit y as the recovered token if y is no child.

The acceptance rate is ``P(Top) + sum over x outside Top of min(P(x), Q(x) / (1 - Q(Top)))``, the
most that any lossless rule reaches with these drafts. Lossless where x is drawn from T = U given
the others, however those were chosen, and for any children where both are one-hot. Source: the
greedy draft construction of 2502.18779.
"""

from __future__ import annotations

from fractions import Fraction

from specdist.model.recipe import RecipeStep
from specdist.rules.joint.node_rule import Node, Verdict, conditioned, excess, outside
from specdist.rules.joint.recovered import EMPTY
from specdist.rules.joint.tree_rule import tree_rule

_ZERO, _ONE = Fraction(0), Fraction(1)


def greedy_drafts_verdict(node: Node, use: RecipeStep) -> Verdict:
    """The chances of the children where the last one was drawn (module docstring)."""
    return sampled_first(node, len(node.children) - 1, use)


def sampled_first(node: Node, drawn: int, use: RecipeStep) -> Verdict:
    """The child at place ``drawn`` is tested against its row without the others, and what is left
    accepts the others whole (module docstring); of several with one token, the first."""
    child, tokens = node.children[drawn], node.tokens
    fixed = tokens[:drawn] + tokens[drawn + 1 :]
    others = set(fixed) - {child.token}
    tested = conditioned(node.tested(child), others)
    subtracted = conditioned(node.subtracted(child), others)
    chance = node.chance(child, node.tested_target, tested, use)
    left = excess(node.left_target, subtracted)
    accepted = [
        (1 - chance) * left[token] if token not in tokens[:index] else _ZERO
        for index, token in enumerate(tokens)
    ]
    accepted[drawn] = chance
    return node.verdict(accepted, outside(left, fixed), use)


GREEDY_DRAFTS = tree_rule(
    "greedy-drafts",
    "fixed drafts and one that is drawn",
    "lossless",
    greedy_drafts_verdict,
    ("without-replacement", "top-then-sampled"),
    options=(EMPTY,),
)
