"""From layers of processing options to one recipe per role."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from specdist.errors import SettingsError
from specdist.model.options import ProcessingOptions
from specdist.model.preset import Preset
from specdist.model.recipe import Recipe
from specdist.model.role import DRAFT_ROLES, ONE_HOT_ROLES, TARGET_ROLES, Role
from specdist.model.step_forms import nearest_names, read_step
from specdist.processing import preset_recipes
from specdist.processing.recipe import (
    build_recipe,
    canonical_names,
    given_values,
    parse_recipe,
)
from specdist.processing.registry import processor_named

DEFAULT_RULE = "token"


@dataclass(frozen=True, slots=True)
class StepRecipes:
    """The recipe of every role, the rule, and the recipes of the two sides they came from.

    ``given`` are the roles that an option filled by itself. ``refused`` says, a sentence each,
    which named options the engine does not take when it speculates.
    """

    recipes: Mapping[Role, Recipe]
    rule: str
    target: Recipe
    draft: Recipe
    given: frozenset[Role] = frozenset()
    refused: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Side:
    """Options collected so far: either an explicit recipe, or named options.

    ``option`` is the command line's name for the whole recipe, for advice.
    """

    option: str
    explicit: Recipe | None
    named: Mapping[str, str]

    def with_recipe(self, text: str) -> _Side:
        return _Side(self.option, _side_recipe(text), {})

    def with_named(self, values: Mapping[str, str]) -> _Side:
        named = canonical_names(values)
        if self.explicit is not None:
            return replace(self, explicit=_replaced(self.explicit, named, self.option))
        return replace(self, named={**self.named, **named})

    def recipe(self) -> Recipe:
        return self.explicit if self.explicit is not None else build_recipe(self.named)


def resolve_recipes(
    layers: Sequence[ProcessingOptions], preset: Preset | None = None
) -> StepRecipes:
    """One recipe per role from layers of options, lowest precedence first.

    Later layers win per processor; the value ``off`` removes it. A ``recipe`` replaces everything
    earlier layers said about the target side; named options on top of an earlier layer's recipe
    replace the step of that name where it stands. The draft side is the target side with the draft
    options on top, unless a ``draft_recipe`` replaces it. A role's own recipe replaces the whole
    recipe of that role. With a ``preset`` the values go where the engine has a place for them (see
    `Preset`), and a recipe of a side replaces all roles of that side.
    Raises `SettingsError` for unknown names and for options that cannot be combined.
    """
    target = _Side("--recipe", None, {})
    draft = _Side("--draft-recipe", None, {})
    roles: dict[Role, Recipe] = {}
    rule = DEFAULT_RULE
    for layer in _with_unset(preset, layers):
        _refuse_both("recipe", layer.recipe, layer.target)
        _refuse_both("draft-recipe", layer.draft_recipe, layer.draft)
        target = target.with_recipe(layer.recipe) if layer.recipe is not None else target
        target = target.with_named(layer.target)
        draft = draft.with_recipe(layer.draft_recipe) if layer.draft_recipe is not None else draft
        draft = draft.with_named(layer.draft)
        roles |= {parse_role(name): role_recipe(name, text) for name, text in layer.roles.items()}
        rule = layer.rule if layer.rule is not None else rule
    if preset is None:
        recipes, refused = _of_sides(target, draft)
    else:
        recipes, refused = _of_preset(preset, target, draft)
    return StepRecipes(
        recipes={**recipes, **roles},
        rule=rule,
        target=recipes[Role.REFERENCE],
        draft=recipes[Role.DRAFTED_FROM],
        given=frozenset(roles),
        refused=refused,
    )


def _with_unset(
    preset: Preset | None, layers: Sequence[ProcessingOptions]
) -> Sequence[ProcessingOptions]:
    """The layers on top of what is in force in the engine when nothing is said."""
    if preset is None:
        return layers
    return [ProcessingOptions(target=preset.unset, rule=preset.rule), *layers]


def _of_sides(target: _Side, draft: _Side) -> tuple[dict[Role, Recipe], tuple[str, ...]]:
    drafted = draft.recipe() if draft.explicit is not None else _on_top(target, draft)
    recipes = dict.fromkeys(TARGET_ROLES, target.recipe())
    return recipes | dict.fromkeys(DRAFT_ROLES, drafted), ()


def _of_preset(
    preset: Preset, target: _Side, draft: _Side
) -> tuple[dict[Role, Recipe], tuple[str, ...]]:
    """The engine's recipes with the values of the two sides, and the options that it refuses."""
    preset_recipes.check_places(preset, target.named, draft.named)
    if target.explicit is None:
        recipes = preset_recipes.target_recipes(preset, target.named)
        values = dict(target.named)
    else:
        recipes = dict.fromkeys(TARGET_ROLES, target.explicit)
        values = {}
    if draft.explicit is not None:
        recipes |= dict.fromkeys(DRAFT_ROLES, draft.explicit)
    else:
        if target.explicit is not None:
            values = preset_recipes.values_in(target.explicit, preset.draft_entries)
        recipes |= preset_recipes.draft_recipes(preset, {**values, **draft.named})
    named = given_values({**target.named, **draft.named})
    return recipes, preset_recipes.refused(preset, named)


def parse_role(name: str) -> Role:
    """The role of that name; hyphens are read as underscores."""
    written = str(name).strip().replace("-", "_")
    if written not in {role.value for role in Role}:
        raise SettingsError(
            f"unknown role {written[:40]!r}",
            expected="one of " + ", ".join(role.value for role in Role),
            advice=nearest_names(written, [role.value for role in Role]),
        )
    return Role(written)


def role_recipe(name: str, text: str) -> Recipe:
    """The recipe given to one role; ``one-hot`` only where a draft distribution is tested."""
    role = parse_role(name)
    recipe = parse_recipe(text)
    if recipe.one_hot and role not in ONE_HOT_ROLES:
        raise SettingsError(
            f"role {role.value} cannot be one-hot",
            expected="one-hot only for " + " and ".join(known.value for known in ONE_HOT_ROLES),
            advice="greedy drafts are drafted_from=temperature:0; --draft-token ID is one token"
            if role is Role.DRAFTED_FROM
            else "",
        )
    return recipe


def _side_recipe(text: str) -> Recipe:
    recipe = parse_recipe(text)
    if recipe.one_hot:
        raise SettingsError(
            "one-hot is the recipe of a role, not of a side",
            advice="write --role accept_draft=one-hot --role residual_draft=one-hot",
        )
    return recipe


def _refuse_both(option: str, recipe: str | None, named: Mapping[str, str]) -> None:
    if recipe is not None and named:
        raise SettingsError(
            f"{option} and {', '.join(sorted(named))} are given together",
            expected=f"either {option} or named options",
            advice=f"write every step into --{option}",
        )


def _replaced(recipe: Recipe, named: Mapping[str, str], option: str) -> Recipe:
    """The recipe with the named steps replaced where they stand, or taken out."""
    present = {step.name for step in recipe.steps}
    given = given_values(named)
    for name in given:
        if name not in present:
            raise SettingsError(
                f"{name} has no place in the recipe {str(recipe)[:60]!r}",
                expected="a step of that name in the recipe that the option changes",
                advice=f"write {option} with {name} where it belongs in the order",
            )
    steps = tuple(
        read_step(processor_named(step.name), given[step.name]) if step.name in given else step
        for step in recipe.steps
        if step.name in given or step.name not in named
    )
    return Recipe(steps)


def _on_top(target: _Side, draft: _Side) -> Recipe:
    """The target side's options with the draft's own options on top."""
    return replace(target, option=draft.option).with_named(draft.named).recipe()
