"""How a rule of one position becomes a rule for trees: from the root, node by node."""

from __future__ import annotations

from collections.abc import Callable

from specdist.model.draft_tree import DraftTree, Siblings
from specdist.model.recipe import RecipeStep
from specdist.model.step_forms import Option
from specdist.model.value_texts import Reader
from specdist.rules.joint.groups import top_down_size
from specdist.rules.joint.joint_rule import JointRule
from specdist.rules.joint.node_rule import NodeRule
from specdist.rules.joint.outcomes import PrefixLaws
from specdist.rules.joint.sequential import Sequential
from specdist.rules.joint.top_down import top_down_outcomes, top_down_walk
from specdist.rules.rule import Kind


def _never(use: RecipeStep) -> bool:
    return False


def tree_rule(
    name: str,
    title: str,
    kind: Kind,
    rule: NodeRule | Sequential,
    siblings: tuple[Siblings, ...],
    *,
    metavar: str = "",
    value: Reader | None = None,
    options: tuple[Option, ...] = (),
    aliases: tuple[str, ...] = (),
    check: Callable[[DraftTree, PrefixLaws, RecipeStep], None] | None = None,
    mistaken: Callable[[RecipeStep], bool] = _never,
    neutral: Callable[[RecipeStep], bool] = _never,
) -> JointRule:
    """``rule`` at every node of a tree, from the root (`top_down`)."""
    return JointRule(
        name,
        title,
        kind,
        top_down_outcomes(rule),
        walk=top_down_walk(rule),
        walk_size=top_down_size,
        check=check,
        metavar=metavar,
        value=value,
        options=options,
        aliases=aliases,
        mistaken=mistaken,
        neutral=neutral,
        per_node=True,
        siblings=siblings,
    )
