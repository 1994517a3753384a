"""Rules that test the children of a node one after the other, each with a coin of its own.

Law. A rule has a state, at first that of the node, and for each child a pair of laws t, d. The
child with the token x is accepted, if none before it was, with probability ``min(1, t(x) / d(x))``;
its rejection leads to the next state, and a token is recovered from what is left in the last one.
Where neither pairs nor states depend on the tokens, and these are drawn independently, the children
need not be drawn together:

    Pr(child i accepted, with token x) = reach_i D_i(x) min(1, t_i(x) / d_i(x)),
    reach_(i+1) = reach_i - sum over x of that.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction

from specdist.model.recipe import RecipeStep
from specdist.model.role import Role
from specdist.rules.joint.node_rule import Child, Node, Verdict
from specdist.rules.joint.outcomes import Law

_ZERO, _ONE = Fraction(0), Fraction(1)


@dataclass(frozen=True, slots=True)
class Left:
    """A node between two of its children: what the next one is tested against, and the masses that
    a recovered token follows."""

    target: Law
    recovered: Law


@dataclass(frozen=True, slots=True)
class Trial:
    """The pair of laws for a child, and how its rejection leads to the next state."""

    target: Law
    tested: Law
    rejected: Callable[[], Left]


@dataclass(frozen=True, slots=True)
class Sequential:
    """``start`` is the state before the first child, ``test`` the test of a child in a state."""

    start: Callable[[Node, RecipeStep], Left]
    test: Callable[[Node, Child, Left, RecipeStep], Trial]

    def verdict(self, node: Node, use: RecipeStep) -> Verdict:
        """The chances of children with given tokens (module docstring)."""
        left, reached = self.start(node, use), _ONE
        accepted: list[Fraction] = []
        for child in node.children:
            if not reached:
                accepted.append(_ZERO)
                continue
            test = self.test(node, child, left, use)
            chance = node.chance(child, test.target, test.tested, use)
            accepted.append(reached * chance)
            reached *= 1 - chance
            if reached:
                left = test.rejected()
        return node.verdict(accepted, left.recovered, use)

    def independent(self, node: Node, use: RecipeStep) -> tuple[list[Law], Verdict]:
        """For children that are drawn independently, whatever their tokens in ``node``: the
        accepted mass of every child by token, and the verdict on all draws together."""
        left, reached = self.start(node, use), _ONE
        masses: list[Law] = []
        for child in node.children:
            drawn = node.laws.law(Role.DRAFTED_FROM, node.prefix, child.rank)
            if not reached:
                masses.append((_ZERO,) * len(drawn))
                continue
            test = self.test(node, child, left, use)
            masses.append(_accepted(node, child, drawn, reached, test, use))
            reached -= sum(masses[-1], _ZERO)
            if reached:
                left = test.rejected()
        accepted = [sum(law, _ZERO) for law in masses]
        return masses, node.verdict(accepted, left.recovered, use)


def _accepted(
    node: Node, child: Child, drawn: Law, reached: Fraction, test: Trial, use: RecipeStep
) -> Law:
    """The accepted mass of a child by the token that is drawn for it."""
    return tuple(
        reached * mass * node.chance(replace(child, token=token), test.target, test.tested, use)
        if mass
        else _ZERO
        for token, mass in enumerate(drawn)
    )
