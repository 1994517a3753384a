"""Trees from the root: a rule of one position at every node, then on to the accepted child.

Law. At the prefix z (the root: ``()``) a rule of one position looks at the children there. With the
probability of its verdict it accepts one, and the step goes on at that child; otherwise the token
of the verdict follows and the step ends. At a leaf all of the path was accepted, and a bonus token
is drawn from `bonus_from` at its prefix. Children of different nodes are drawn independently, and
the coins of different nodes are independent, so that

    reach(root) = 1,   reach(child i with token x) += reach(node) Pr(children drawn) Pr(i accepted)

is a recursion over nodes and prefixes; it gives the same totals as one proposal after the other.
With duplicates "separate" the step goes on at the first accepted child, and with "merged" at all
children with its token. Where the rule emits the target's law at every node, so does the tree: what
is drawn below a child does not depend on its siblings. Source: SpecInfer 2305.09781, algorithm 2.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from fractions import Fraction

from specdist.model.conditional import Prefix
from specdist.model.draft_tree import DraftTree
from specdist.model.recipe import RecipeStep
from specdist.model.role import Role
from specdist.rules.joint.groups import START, Drawing, Group, children_of, copies
from specdist.rules.joint.joint_rule import Enumerated, Walked
from specdist.rules.joint.mixture import Mixture
from specdist.rules.joint.node_rule import Node, NodeRule
from specdist.rules.joint.outcomes import Drafted, Outcome, PrefixLaws
from specdist.rules.joint.sequential import Sequential

_ZERO, _ONE = Fraction(0), Fraction(1)


def top_down_outcomes(rule: NodeRule | Sequential) -> Enumerated:
    """The outcomes of one proposal under ``rule`` at every node (module docstring)."""

    def outcomes(drafted: Drafted, laws: PrefixLaws, use: RecipeStep) -> Iterable[Outcome]:
        return _descended(rule, Drawing(drafted.tree, laws, drafted.tokens), use)

    return outcomes


def top_down_walk(rule: NodeRule | Sequential) -> Walked:
    """The outcomes over all proposals: at most two for every prefix (module docstring)."""

    def walk(tree: DraftTree, laws: PrefixLaws, use: RecipeStep) -> Iterable[Outcome]:
        return _descended(rule, Drawing(tree, laws), use)

    return walk


@dataclass(slots=True)
class _Node:
    """The rule at one node, over all draws of its children: mass by the places of the children
    that the step goes on with and their token, and what is emitted in place of all of them."""

    onward: dict[tuple[tuple[int, ...], int], Fraction] = field(default_factory=dict)
    recovered: Mixture = field(default_factory=Mixture)


def _descended(rule: NodeRule | Sequential, drawing: Drawing, use: RecipeStep) -> Iterator[Outcome]:
    tree, laws = drawing.tree, drawing.laws
    reached: dict[tuple[Group, Prefix], Fraction] = {(START, ()): _ONE}
    while reached:
        following: dict[tuple[Group, Prefix], Fraction] = {}
        known: dict[tuple[Group, Prefix], _Node] = {}
        for (group, prefix), mass in reached.items():
            children = children_of(tree, group)
            if not children:
                yield Outcome(mass, prefix, laws.law(Role.BONUS_FROM, prefix), bonus=True)
                continue
            key = drawing.alike(group), prefix
            if key not in known:
                known[key] = _judged(rule, drawing, group, prefix, use)
            for (places, token), share in known[key].onward.items():
                goes = tuple(children[place] for place in places), (*prefix, token)
                following[goes] = following.get(goes, _ZERO) + mass * share
            yield from known[key].recovered.outcomes(prefix, mass)
        reached = following


def _judged(
    rule: NodeRule | Sequential, drawing: Drawing, group: Group, prefix: Prefix, use: RecipeStep
) -> _Node:
    if isinstance(rule, Sequential):
        if drawing.independent(group):
            return _judged_apart(rule, drawing.any_node(group, prefix), use)
        rule = rule.verdict
    found = _Node()
    for tokens, probability in drawing.draws(group, prefix):
        verdict = rule(drawing.node(group, prefix, tokens), use)
        for index, chance in enumerate(verdict.accepted):
            if chance:
                goes = copies(drawing.tree, tokens, index), tokens[index]
                share = found.onward.get(goes, _ZERO)
                found.onward[goes] = share + probability * chance
        found.recovered.add(probability * verdict.rejected, verdict.then, verdict.unnamed)
    return found


def _judged_apart(rule: Sequential, node: Node, use: RecipeStep) -> _Node:
    """`_judged` for children that are drawn independently: one draw after the other."""
    found = _Node()
    masses, verdict = rule.independent(node, use)
    for index, law in enumerate(masses):
        for token, mass in enumerate(law):
            if mass:
                found.onward[(index,), token] = mass
    found.recovered.add(verdict.rejected, verdict.then, verdict.unnamed)
    return found
