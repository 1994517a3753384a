"""Traversal verification: a tree from its leaves to its root.

Law. Every node v has a weight w (the root 1), laws A_v and S_v, at first `accept_target` and
`residual_target` at its prefix, and for child i the rows T_i (`accept_draft`) and U_i
(`residual_draft`). Depth first, first child first:

    child c starts with      w(c) = min(1, w A_v(c) / T_i(c));
    a leaf                   accepts its path with w, and a bonus token from `bonus_from` follows;
    c is rejected            R = [w S_v - U_i]_+,  S_v <- norm R,  A_v <- norm [w A_v - T_i]_+,
                             w <- sum R / (sum R + 1 - w), 1 for 0/0, and the next child is tried;
    no child is left         v accepts its path with w, and a token from S_v follows.

A node that does not accept is rejected. The root always accepts. Where siblings are drawn without
replacement T_i and U_i are the rows without the earlier siblings, renormalised;
``renormalise=no`` forgets the division, which is a mistake.

A node is kept with probability w given what leads to it, whatever is drawn below and beside it:
that makes the rule lossless where every child is drawn from its T_i = U_i given the earlier ones.
On a chain it is block verification. With merged duplicates the first copy goes on with the children
of all copies; later ones have the weight 0, as any token has that was rejected once.

Subtrees are independent given weight and prefix, so that the walk visits each once. Source:
traversal verification 2505.12398.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from fractions import Fraction

from specdist.model.conditional import Prefix
from specdist.model.draft_tree import DraftTree
from specdist.model.recipe import RecipeStep
from specdist.model.role import Role
from specdist.model.step_forms import Option
from specdist.model.value_texts import one_of
from specdist.rules.joint.groups import (
    START,
    Drawing,
    Group,
    children_of,
    copies,
    leaf_to_root_size,
)
from specdist.rules.joint.joint_rule import JointRule
from specdist.rules.joint.mixture import Mixture
from specdist.rules.joint.node_rule import Child, Node, conditioned, outside
from specdist.rules.joint.outcomes import Drafted, Law, Outcome, PrefixLaws
from specdist.rules.joint.recovered import EMPTY, normalised, positive_part, recovered

_ZERO, _ONE = Fraction(0), Fraction(1)
_Place = tuple[Group, Prefix, Fraction]
"""A group of nodes, its prefix, and the weight it starts with."""


def traversal_outcomes(drafted: Drafted, laws: PrefixLaws, use: RecipeStep) -> Iterable[Outcome]:
    """The outcomes of one proposal (module docstring)."""
    return _Traversal(Drawing(drafted.tree, laws, drafted.tokens), use).outcomes()


def traversal_walk(tree: DraftTree, laws: PrefixLaws, use: RecipeStep) -> Iterable[Outcome]:
    """The outcomes over all proposals, subtree by subtree (module docstring)."""
    return _Traversal(Drawing(tree, laws), use).outcomes()


@dataclass(frozen=True, slots=True)
class _State:
    """A node between two of its children: its weight, what its children are tested against, and
    the masses that a token after it follows."""

    weight: Fraction
    target: Law
    left: Law


@dataclass(slots=True)
class _Visit:
    """All that may happen from a place on: how often each place below is tried, what ends here, and
    how often all of it is rejected."""

    below: dict[_Place, Fraction] = field(default_factory=dict)
    ends: Mixture = field(default_factory=Mixture)
    rejected: Fraction = _ZERO


class _Traversal:
    """One run over the draws of ``drawing``; every place is visited once."""

    def __init__(self, drawing: Drawing, use: RecipeStep) -> None:
        self._drawing, self._use = drawing, use
        self._tree, self._laws = drawing.tree, drawing.laws
        self._by_token = drawing.tree.siblings != "iid" or bool(drawing.laws.one_hot)
        self._visits: dict[_Place, _Visit] = {}

    def outcomes(self) -> Iterator[Outcome]:
        """Level by level from the root: the mass that tries a place, and what ends there."""
        level: dict[_Place, Fraction] = {(START, (), _ONE): _ONE}
        while level:
            following: dict[_Place, Fraction] = {}
            for place, mass in level.items():
                visit = self._visit(place)
                bonus = not children_of(self._tree, place[0])
                yield from visit.ends.outcomes(place[1], mass, bonus)
                for below, share in visit.below.items():
                    following[below] = following.get(below, _ZERO) + mass * share
            level = following

    def _visit(self, place: _Place) -> _Visit:
        if place not in self._visits:
            group, prefix, weight = place
            visit = self._visits[place] = _Visit()
            if not children_of(self._tree, group):
                visit.ends.add(weight, self._laws.law(Role.BONUS_FROM, prefix))
                visit.rejected = 1 - weight
            else:
                self._try_children(visit, group, prefix, weight)
        return self._visits[place]

    def _try_children(self, visit: _Visit, group: Group, prefix: Prefix, weight: Fraction) -> None:
        target = self._laws.law(Role.RESIDUAL_TARGET, prefix)
        start = _State(weight, self._laws.law(Role.ACCEPT_TARGET, prefix), target)
        if self._drawing.independent(group):
            node = self._drawing.any_node(group, prefix)
            if self._tree.duplicates == "separate" or _tests_what_it_subtracts(node, start):
                self._try_apart(visit, group, node, start)
                return
        self._try_together(visit, group, prefix, start)

    def _try_apart(self, visit: _Visit, group: Group, node: Node, state: _State) -> None:
        """Children that are drawn independently, one after the other."""
        mass = _ONE
        for place, child in zip(children_of(self._tree, group), node.children, strict=True):
            rejected = _ZERO
            drawn = self._laws.law(Role.DRAFTED_FROM, node.prefix, child.rank)
            for token, probability in enumerate(drawn):
                if probability:
                    weight = self._weight(node, replace(child, token=token), state)
                    below = (place,), (*node.prefix, token), weight
                    rejected += self._tried(visit, below, mass * probability)
            mass = rejected
            if not mass:
                return
            state = self._rejected(node, child, state)
        self._end(visit, mass, node, state)

    def _try_together(self, visit: _Visit, group: Group, prefix: Prefix, start: _State) -> None:
        """Every draw of all children."""
        children = children_of(self._tree, group)
        weights: dict[tuple[int, ...], Fraction] = {}
        states: dict[tuple[int, ...], _State] = {}
        for tokens, mass in self._drawing.draws(group, prefix):
            node, state = self._drawing.node(group, prefix, tokens), start
            for index, child in enumerate(node.children):
                seen = tokens[: index + 1] if self._by_token else (index, child.token)
                if seen not in weights:
                    weights[seen] = self._weight(node, child, state)
                places = copies(self._tree, tokens, index)
                if places[0] == index:
                    goes = tuple(children[at] for at in places)
                    mass = self._tried(visit, (goes, (*prefix, child.token), weights[seen]), mass)
                if not mass:
                    break
                if seen not in states:
                    states[seen] = self._rejected(node, child, state)
                state = states[seen]
            if mass:
                self._end(visit, mass, node, state)

    def _tried(self, visit: _Visit, place: _Place, mass: Fraction) -> Fraction:
        """How much of the mass is rejected at a place below; a weight of 0 accepts nothing."""
        if not place[2]:
            return mass
        visit.below[place] = visit.below.get(place, _ZERO) + mass
        return mass * self._visit(place).rejected

    def _end(self, visit: _Visit, mass: Fraction, node: Node, state: _State) -> None:
        """No child is left."""
        if state.weight:
            found = recovered(_ONE, node.prefix, state.left, node.left_target, self._use)
            visit.ends.add(mass * state.weight, found.then, found.unnamed)
        visit.rejected += mass * (1 - state.weight)

    def _weight(self, node: Node, child: Child, state: _State) -> Fraction:
        """The weight that a child starts with."""
        if not state.weight:
            return _ZERO
        tested = self._row(node.tested(child), node, child)
        return node.chance(child, state.target, tested, self._use, state.weight)

    def _row(self, row: Law, node: Node, child: Child) -> Law:
        """The row of a child given the earlier siblings."""
        if node.siblings != "without-replacement" or not child.earlier:
            return row
        drop = conditioned if self._use.word("renormalise") == "yes" else outside
        return drop(row, child.earlier)

    def _rejected(self, node: Node, child: Child, state: _State) -> _State:
        """The node after the subtree of a child was rejected."""
        tested, subtracted = node.tested(child), node.subtracted(child)
        left = positive_part(state.left, self._row(subtracted, node, child), state.weight)
        mass = sum(left, _ZERO)
        divisor = mass + 1 - state.weight
        target = left = normalised(left) or left
        if state.target is not state.left or tested != subtracted:
            target = positive_part(state.target, self._row(tested, node, child), state.weight)
            target = normalised(target) or target
        return _State(mass / divisor if divisor else _ONE, target, left)


def _tests_what_it_subtracts(node: Node, state: _State) -> bool:
    """Whether a token that was rejected has weight 0 from then on, so that copies of it make no
    difference."""
    return state.target is state.left and all(
        node.tested(child) == node.subtracted(child) for child in node.children
    )


TRAVERSAL = JointRule(
    "traversal",
    "traversal verification",
    "lossless",
    traversal_outcomes,
    walk=traversal_walk,
    walk_size=leaf_to_root_size,
    options=(
        Option(
            "renormalise",
            one_of("yes", "no"),
            "yes",
            "yes: the row of a later sibling drawn without replacement sums to one; no: the "
            "earlier ones are only taken out",
        ),
        EMPTY,
    ),
    mistaken=lambda use: use.word("renormalise") == "no",
    siblings=("iid", "without-replacement"),
)
