"""Recipes of a preset: its step entries, filled with the values that the user gave by name."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache

from specdist.errors import SettingsError
from specdist.model.preset import Preset
from specdist.model.recipe import Recipe, RecipeStep
from specdist.model.role import Role
from specdist.model.step_forms import read_step, unknown_option
from specdist.processing.recipe import ONE_HOT, given_values
from specdist.processing.registry import processor_named


@dataclass(frozen=True, slots=True)
class Place:
    """One entry of a preset: a whole step, or the place of a named option with its conventions."""

    name: str
    step: RecipeStep | None
    conventions: Mapping[str, str]

    def filled(self, values: Mapping[str, str]) -> RecipeStep | None:
        """The step here; None where the user gave no value. Options that the user wrote win."""
        if self.step is not None or self.name not in values:
            return self.step
        text = values[self.name]
        written = {part.partition("=")[0].strip() for part in text.split(":")[1:]}
        more = [f":{key}={value}" for key, value in self.conventions.items() if key not in written]
        return read_step(processor_named(self.name), text + "".join(more))


@cache
def read_place(entry: str) -> Place:
    """``name[:option=value...]`` as a place, ``name:value[:option=value...]`` as a whole step.

    Raises `SettingsError` for unknown processors, options and values.
    """
    name, _, rest = entry.partition(":")
    processor = processor_named(name)
    readers = {option.name: option.read for option in processor.options}
    conventions: dict[str, str] = {}
    for part in rest.split(":") if rest else []:
        key, equals, value = (piece.strip() for piece in part.partition("="))
        if key not in readers and not conventions and not (equals and key[:1].isalpha()):
            return Place(processor.name, read_step(processor, rest), {})
        if key not in readers or key in conventions:
            raise unknown_option(processor, part)
        readers[key](f"{processor.name}:{key}", value)
        conventions[key] = value
    return Place(processor.name, None, conventions)


def filled(entries: Iterable[str], values: Mapping[str, str]) -> Recipe:
    """The recipe of a list of entries; ``off`` counts as no value."""
    given = given_values(values)
    steps = (read_place(entry).filled(given) for entry in entries)
    return Recipe(tuple(step for step in steps if step is not None))


def places(entries: Iterable[str]) -> tuple[str, ...]:
    """The named options that a list of entries has a place for, in order."""
    return tuple(dict.fromkeys(p.name for p in map(read_place, entries) if p.step is None))


def check_places(preset: Preset, target: Mapping[str, str], draft: Mapping[str, str]) -> None:
    """Refuses named options that the engine has no place for, anywhere or on its draft side."""
    drafts = places(preset.draft_entries)
    known = tuple(dict.fromkeys(places(preset.target_entries) + drafts))
    for name in given_values(target):
        if name not in known:
            raise _no_place(preset, name, f"engine {preset.name} has no {name}", known)
    for name in given_values(draft):
        if name not in drafts:
            message = f"the drafts of engine {preset.name} take no {name}"
            raise _no_place(preset, name, message, drafts)


def refused(preset: Preset, options: Iterable[str]) -> tuple[str, ...]:
    """One sentence for each of these options that the engine refuses when it speculates."""
    return tuple(
        f"engine {preset.name} refuses {name} with speculation: {preset.refuses[name]}"
        for name in options
        if name in preset.refuses
    )


def target_recipes(preset: Preset, values: Mapping[str, str]) -> dict[Role, Recipe]:
    """The recipes of the target's roles."""
    verified = filled(preset.verified, values)
    return {
        Role.REFERENCE: filled(preset.ordinary, values),
        Role.ACCEPT_TARGET: verified,
        Role.RESIDUAL_TARGET: verified,
        Role.BONUS_FROM: filled(preset.bonus, values),
    }


def draft_recipes(preset: Preset, values: Mapping[str, str]) -> dict[Role, Recipe]:
    """The recipes of the draft's roles."""
    entries = preset.tested
    tested = ONE_HOT if isinstance(entries, str) else filled(entries, values)
    return {
        Role.DRAFTED_FROM: filled(preset.drafted, values),
        Role.ACCEPT_DRAFT: tested,
        Role.RESIDUAL_DRAFT: tested,
    }


def values_in(recipe: Recipe, entries: Iterable[str]) -> dict[str, str]:
    """The values of a recipe's steps that entries have a place for.

    Raises `SettingsError` where a step stands twice with two values: which one is meant?
    """
    values: dict[str, str] = {}
    wanted = places(entries)
    for step in recipe.steps:
        text = step.text.partition(":")[2]
        if step.name in wanted and values.setdefault(step.name, text) != text:
            raise SettingsError(
                f"the recipe has {step.name} twice, with two values",
                expected="one value for the draft side",
                advice="write what the draft has as --draft-recipe",
            )
    return values


def _no_place(preset: Preset, name: str, message: str, known: tuple[str, ...]) -> SettingsError:
    reason = preset.refuses.get(name)
    return SettingsError(
        message,
        expected=f"one of {', '.join(known)}" if known else "no processing option",
        advice=reason or f"specdist engines {preset.name}; another order is a --recipe",
    )
