"""A map of draft ids at hand goes first on the draft side, where no recipe applies it already."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from specdist.model.capture import Step
from specdist.model.recipe import Recipe
from specdist.model.role import DRAFT_ROLES, Role
from specdist.model.settings import CheckSettings
from specdist.processing import StepRecipes, parse_recipe

_MAP_STEP = "vocab-map"
_GIVEN = "vocab-map:given"


def has_map(step: Step, settings: CheckSettings) -> bool:
    """Whether the command line or the capture brings a map of draft ids."""
    return settings.draft_map is not None or any(
        position.draft_map is not None for position in step.positions
    )


def with_map(recipes: StepRecipes) -> StepRecipes:
    """The recipes with the step ``vocab-map:given`` first in every draft role.

    A role that an option filled by itself keeps its recipe: it says all that is done there.
    """
    found: Mapping[Role, Recipe] = {
        role: recipe if role not in DRAFT_ROLES or role in recipes.given else _mapped(recipe)
        for role, recipe in recipes.recipes.items()
    }
    return replace(recipes, recipes=found, draft=found[Role.DRAFTED_FROM])


def _mapped(recipe: Recipe) -> Recipe:
    if recipe.one_hot or any(step.name == _MAP_STEP for step in recipe.steps):
        return recipe
    return Recipe((*parse_recipe(_GIVEN).steps, *recipe.steps))
