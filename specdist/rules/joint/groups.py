"""Where a step stands in its tree, and how what follows there was drawn.

A step that accepted the prefix z stands at a group: one node, or with merged duplicates all nodes
whose tokens spell z. What is drawn next are the children of the whole group, in the order of its
nodes, each under its own rank among the siblings of its own node.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import product

from specdist.model.conditional import Prefix
from specdist.model.draft_tree import ROOT, DraftTree
from specdist.rules.joint.draws import Draw, child_draws, draw_count
from specdist.rules.joint.node_rule import Child, Node
from specdist.rules.joint.outcomes import PrefixLaws

Group = tuple[int, ...]
"""Nodes of the same prefix that go on together."""

START: Group = (ROOT,)
_ONE = Fraction(1)


def children_of(tree: DraftTree, group: Group) -> tuple[int, ...]:
    """The children of all nodes of the group."""
    return tuple(child for node in group for child in tree.children(node))


def copies(tree: DraftTree, tokens: tuple[int, ...], index: int) -> tuple[int, ...]:
    """The places, among children with these tokens, that the child at ``index`` goes on with: its
    own, or with merged duplicates those of all children with its token."""
    if tree.duplicates == "separate":
        return (index,)
    return tuple(place for place, token in enumerate(tokens) if token == tokens[index])


@dataclass(frozen=True, slots=True)
class Drawing:
    """The draws of a step: of all its proposals, or of the one with the tokens ``fixed``."""

    tree: DraftTree
    laws: PrefixLaws
    fixed: tuple[int, ...] | None = None

    def draws(self, group: Group, prefix: Prefix) -> Iterator[Draw]:
        """The tokens of the children of the group with their probabilities. Raises as
        `child_draws`."""
        if self.fixed is not None:
            yield tuple(self.fixed[child] for child in children_of(self.tree, group)), _ONE
            return
        if len(group) == 1:
            yield from child_draws(self.tree, group[0], prefix, self.laws)
            return
        each = [list(child_draws(self.tree, node, prefix, self.laws)) for node in group]
        for choice in product(*each):
            mass = _ONE
            for _, factor in choice:
                mass *= factor
            yield tuple(token for tokens, _ in choice for token in tokens), mass

    def node(self, group: Group, prefix: Prefix, tokens: tuple[int, ...]) -> Node:
        """The children of the group with these tokens, for a rule of one position."""
        children: list[Child] = []
        for parent in group:
            earlier: tuple[int, ...] = ()
            for rank in range(len(self.tree.children(parent))):
                token = tokens[len(children)]
                children.append(Child(token, rank, earlier))
                earlier = (*earlier, token)
        return Node(prefix, tuple(children), self.laws, self.tree.siblings)

    def independent(self, group: Group) -> bool:
        """Whether the children of the group may be looked at one by one: drawn independently, with
        laws that do not depend on their tokens, and no copies that go on together."""
        if self.fixed is not None or self.tree.siblings != "iid" or self.laws.one_hot:
            return False
        below = children_of(self.tree, group)
        return self.tree.duplicates == "separate" or not children_of(self.tree, below)

    def any_node(self, group: Group, prefix: Prefix) -> Node:
        """The children of the group where their tokens make no difference."""
        return self.node(group, prefix, (0,) * len(children_of(self.tree, group)))

    def alike(self, group: Group) -> Group:
        """Equal for groups whose children are drawn alike after one prefix."""
        if self.fixed is not None or self.tree.siblings == "given":
            return group
        return tuple(len(self.tree.children(node)) for node in group)


def top_down_size(tree: DraftTree, size: int) -> int:
    """The most draws of children that a recursion over prefixes lists, one for every leaf that it
    reaches included, over ``size`` tokens."""
    return _size(tree, size, size, by_rank=False)


def leaf_to_root_size(tree: DraftTree, size: int) -> int:
    """`top_down_size` where the children of a node also depend on the siblings that were rejected
    before it."""
    return _size(tree, size, size, by_rank=tree.siblings != "iid")


def _size(tree: DraftTree, size: int, tokens: int, *, by_rank: bool) -> int:
    fixed = tree.siblings in {"top", "given"}
    visits: dict[int, int] = {ROOT: 1}
    levels: dict[int, list[int]] = {0: [ROOT]}
    for node, parent in enumerate(tree.parents):
        ways = 1 if fixed else tokens ** (tree.ranks[node] + 1 if by_rank else 1)
        visits[node] = visits[parent] * ways
        levels.setdefault(tree.levels_of[node], []).append(node)
    draws = {node: draw_count(tree, node, size) for node in visits}
    if tree.duplicates == "separate":
        return sum(visits[node] * draws[node] for node in visits)
    total = 0
    for level in levels.values():  # any nodes of a level may go on together
        joined = 1
        for node in level:
            joined *= 1 + draws[node]
        total += max(visits[node] for node in level) * (joined - 1)
    return total
