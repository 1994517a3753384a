"""Cuts that the float64 weights cannot place: does the verdict depend on their side?

A cut whose margin is inside the rounding bound of its row's weights may fall on the other side for
the real-valued law. Where every role of a side has one and the same law that changes nothing: a
lossless rule is lossless for the law with either cut. Otherwise the threshold of each such step of
each recipe is moved up and down by eight times what rounding could explain, independently, and the
position is verified again. A verdict that all of them share stands; else it is undecided, and so it
is where moving a threshold cannot tell: an order of two tokens that rounding blurs, a moved
recipe that still cuts too close or that fits the row no more, or more than six such steps.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction
from itertools import product

from specdist.errors import SpecdistError
from specdist.model.recipe import Recipe, RecipeStep
from specdist.model.role import TARGET_ROLES, Role
from specdist.model.verdict import Verdict
from specdist.verify.position_laws import CloseCut, PositionLaws

_MOST_CUTS = 6
_FAR = 8

Verified = tuple[PositionLaws, Verdict]


def settled(
    found: PositionLaws,
    verdict: Verdict,
    recipes: Mapping[Role, Recipe],
    verify: Callable[[Mapping[Role, Recipe]], Verified],
) -> Verdict:
    """The verdict on a position, or undecided where it depends on the side of a close cut."""
    if not found.close_cuts or verdict is Verdict.UNDECIDED:
        return verdict
    if verdict is Verdict.EQUAL and found.one_law_a_side:
        return verdict
    sides = all_sides(found, recipes)
    if sides is None:
        return Verdict.UNDECIDED
    for moved in sides:
        try:
            again, other = verify(moved)
        except SpecdistError:
            return Verdict.UNDECIDED
        if again.close_cuts or other is not verdict:
            return Verdict.UNDECIDED
    return verdict


def all_sides(
    found: PositionLaws, recipes: Mapping[Role, Recipe]
) -> Iterator[Mapping[Role, Recipe]] | None:
    """The recipes with every close cut moved to either side; None where moving cannot tell."""
    cuts = set(found.close_cuts)
    if len(cuts) > _MOST_CUTS or any(cut.leeway is None for cut in cuts):
        return None
    return _all_sides(recipes, sorted(cuts, key=str))


def _all_sides(
    recipes: Mapping[Role, Recipe], cuts: list[CloseCut]
) -> Iterator[Mapping[Role, Recipe]]:
    for signs in product((1, -1), repeat=len(cuts)):
        moves = {
            (cut.side, cut.recipe, cut.step): 1 + sign * _FAR * (cut.leeway or Fraction(0))
            for cut, sign in zip(cuts, signs, strict=True)
        }
        yield {role: _moved(role, recipe, moves) for role, recipe in recipes.items()}


def _moved(role: Role, recipe: Recipe, moves: Mapping[tuple[str, Recipe, str], Fraction]) -> Recipe:
    side = "target" if role in TARGET_ROLES else "draft"
    steps = [_moved_step(s, moves.get((side, recipe, s.name), Fraction(1))) for s in recipe.steps]
    return Recipe(tuple(steps), recipe.one_hot)


def _moved_step(step: RecipeStep, factor: Fraction) -> RecipeStep:
    value = step.argument("value")
    if factor == 1 or not isinstance(value, Fraction | int):
        return step
    others = tuple(pair for pair in step.arguments if pair[0] != "value")
    return RecipeStep(step.name, (("value", value * factor), *others), step.text)
