"""SpecHub: of two drafts one is the most probable token, and the other carries the draw.

Law. With h the most probable token of Q = `drafted_from`, the pair of children is {h, x} with
probability ``Q(x) / (1 - Q(h))`` for every other x. The token x is tested against T, `accept_draft`
without h, renormalised, and the rest accepts h:

    accept x with probability   min(1, A(x) / T(x));   otherwise draw y from norm [S - U]_+,
    accept h if y = h, emit y as the recovered token otherwise

with A = `accept_target`, S = `residual_target`, U = `residual_draft` without h. The acceptance rate
``P(h) + sum over x other than h of min(P(x), Q(x) / (1 - Q(h)))`` is the most that any lossless
rule reaches with these pairs, and that of the linear program which the paper solves: every pair
holds h, so that all mass which no x takes can go to h. Source of the pairs: SpecHub 2411.05289.
"""

from __future__ import annotations

from specdist.errors import SettingsError
from specdist.model.conditional import written_prefix
from specdist.model.draft_tree import DraftTree
from specdist.model.recipe import RecipeStep
from specdist.model.role import Role
from specdist.rules.joint.draws import top_of
from specdist.rules.joint.greedy_drafts_rule import sampled_first
from specdist.rules.joint.node_rule import Node, Verdict
from specdist.rules.joint.outcomes import PrefixLaws
from specdist.rules.joint.recovered import EMPTY
from specdist.rules.joint.tree_rule import tree_rule


def spechub_verdict(node: Node, use: RecipeStep) -> Verdict:
    """The chances of a pair with its hub (module docstring). Raises SettingsError for children that
    are no such pair."""
    hub = top_of(node.laws.law(Role.DRAFTED_FROM, node.prefix))
    others = [place for place, token in enumerate(node.tokens) if token != hub]
    if len(node.tokens) != 2 or len(others) != 1:
        raise SettingsError(
            f"{use.text}: the children {', '.join(map(str, node.tokens))} after the prefix "
            f"{written_prefix(node.prefix)} are not a pair with the most probable token {hub}",
            expected="two children, one of them the most probable token of the draft row",
            advice="draw them so: --siblings hub",
        )
    return sampled_first(node, others[0], use)


def _check_pairs(tree: DraftTree, laws: PrefixLaws, use: RecipeStep) -> None:
    counts = {len(children) for children in tree.by_parent.values()} - {0}
    if counts - {2}:
        raise SettingsError(
            f"{use.text} takes pairs, and the proposal is {tree.shape}",
            expected="two children for every node that has any",
            advice="take a tree such as 2,2, or another rule",
        )


SPECHUB = tree_rule(
    "spechub",
    "pairs with the most probable token",
    "lossless",
    spechub_verdict,
    ("hub", "top-then-sampled"),
    options=(EMPTY,),
    check=_check_pairs,
)
