"""Block verification of a whole step by recursion over prefixes, instead of over proposals.

Weights, thresholds and residuals belong to a prefix (with a one-hot residual draft, to a prefix and
the token drafted after it), so they are computed once for all drafts that share it. Only where the
coins stop depends on a whole draft; that mass is added up by prefix:

    mass(z_i) = sum over drafts x through z_i: D(x) Pr(tau = i | x)      D `drafted_from`
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction

from specdist.exact.bounded import most
from specdist.model.conditional import Prefix
from specdist.model.draft_tree import ROOT, DraftTree
from specdist.model.recipe import RecipeStep
from specdist.model.role import Role
from specdist.rules.joint.block_coins import COINS
from specdist.rules.joint.block_path import BlockPosition, block_position
from specdist.rules.joint.draws import child_draws
from specdist.rules.joint.outcomes import Outcome, PrefixLaws
from specdist.rules.joint.recovered import recovered
from specdist.rules.joint.token_chain_rule import acceptance

_ZERO, _ONE = Fraction(0), Fraction(1)
_Place = tuple[Prefix, int | None]


@dataclass(slots=True)
class _Stopped:
    """The drafts that stop at one place."""

    position: BlockPosition
    mass: Fraction = _ZERO
    error: Fraction = _ZERO


@dataclass(slots=True)
class _Walk:
    tree: DraftTree
    laws: PrefixLaws
    use: RecipeStep
    places: dict[_Place, _Stopped] = field(default_factory=dict)

    def through(
        self,
        node: int,
        prefix: Prefix,
        weight: Fraction,
        mass: Fraction,
        path: tuple[_Stopped, ...],
    ) -> None:
        """Every draft that goes on from ``node``; ``path`` holds the places before it."""
        children = self.tree.children(node)
        if not children:
            self._settle((*path, self._place(prefix, None, weight)), mass)
            return
        for (token,), chance in child_draws(self.tree, node, prefix, self.laws):
            place = self._place(prefix, token, weight)
            after = acceptance(token, prefix, self.laws, self.use, weight)
            self.through(children[0], (*prefix, token), after, mass * chance, (*path, place))

    def _settle(self, path: tuple[_Stopped, ...], mass: Fraction) -> None:
        """One whole draft: its mass goes to the places where its coins stop."""
        stops = COINS[self.use.word("coins")]([place.position.threshold for place in path[1:]])
        for place, chance in zip(path, stops.chances, strict=True):
            if chance:
                place.mass += mass * chance
                place.error += most(mass) * stops.error

    def _place(self, prefix: Prefix, following: int | None, weight: Fraction) -> _Stopped:
        shared = following is not None and Role.RESIDUAL_DRAFT not in self.laws.one_hot
        key = (prefix, -1 if shared else following)
        if key not in self.places:
            position = block_position(weight, prefix, following, self.laws, self.use)
            self.places[key] = _Stopped(position)
        return self.places[key]


def block_walk(tree: DraftTree, laws: PrefixLaws, use: RecipeStep) -> Iterator[Outcome]:
    """The outcomes of a step over all its drafts, of total mass 1: one for each prefix that can be
    kept. Raises as `block_outcomes` and `child_draws` do."""
    walk = _Walk(tree, laws, use)
    walk.through(ROOT, (), _ONE, _ONE, ())
    for (prefix, following), stopped in walk.places.items():
        if not stopped.mass:
            continue
        if following is None:
            law = laws.law(Role.BONUS_FROM, prefix)
            yield Outcome(stopped.mass, prefix, law, bonus=True, error=stopped.error)
        else:
            target = laws.law(Role.RESIDUAL_TARGET, prefix)
            left = stopped.position.residual
            yield recovered(stopped.mass, prefix, left, target, use, stopped.error)


def block_walk_size(tree: DraftTree, size: int) -> int:
    """At most so many outcomes are listed, over ``size`` tokens: one a prefix, or a prefix and the
    token drafted after it."""
    if tree.siblings in ("given", "top"):
        return tree.depth + 1
    levels = [*range(1, tree.depth + 1), tree.depth]
    return sum(int(size**level) for level in levels)
