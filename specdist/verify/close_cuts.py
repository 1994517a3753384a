"""Cuts that the float64 weights cannot place: does the verdict depend on their side?

A cut whose margin is inside the rounding bound of its row's weights may fall on the other side for
the real-valued law. Its threshold is moved up and down by a relative 2**-36, far more than any such
bound and far less than the float32 rounding that `near-cut` speaks of, for the target's and the
draft's rows independently. A verdict that holds on every side stands; else it is undecided.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from itertools import product

from specdist.model.recipe import Recipe, RecipeStep
from specdist.model.role import TARGET_ROLES, Role
from specdist.verify.position_laws import PositionLaws

_CUTS = ("top-p", "typical-p", "min-p", "epsilon", "eta", "top-n-sigma")
_UP, _DOWN = 1 + Fraction(1, 2**36), 1 - Fraction(1, 2**36)


def has_close_cut(found: PositionLaws) -> bool:
    """Whether a row of the position has such a cut."""
    return any(noted.remark.ident == "undecided-precision" for noted in found.noted)


def holds_on_every_side(
    recipes: Mapping[Role, Recipe], differs: Callable[[Mapping[Role, Recipe]], bool]
) -> bool:
    """Whether ``differs`` holds for the recipes with their thresholds moved in all four ways."""
    for target, draft in product((_UP, _DOWN), repeat=2):
        moved = {
            role: _moved(recipe, target if role in TARGET_ROLES else draft)
            for role, recipe in recipes.items()
        }
        if not differs(moved):
            return False
    return True


def _moved(recipe: Recipe, factor: Fraction) -> Recipe:
    return Recipe(tuple(_moved_step(step, factor) for step in recipe.steps), recipe.one_hot)


def _moved_step(step: RecipeStep, factor: Fraction) -> RecipeStep:
    value = step.argument("value")
    if step.name not in _CUTS or not isinstance(value, Fraction | int):
        return step
    moved = min(value * factor, Fraction(1)) if step.name != "top-n-sigma" else value * factor
    others = tuple(pair for pair in step.arguments if pair[0] != "value")
    return RecipeStep(step.name, (("value", moved), *others), step.text)
