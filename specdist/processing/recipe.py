"""Recipes: read from texts, built from named options, written canonically by ``str``.

``RECIPE = "raw" | "one-hot" | step ("," step)*`` with
``step = name ":" value (":" option "=" value)*``. Lists are joined with ``+``, numbers are exact.
"""

from __future__ import annotations

from collections.abc import Mapping

from specdist.errors import SettingsError
from specdist.model.recipe import Argument, Recipe, RecipeStep
from specdist.model.value_texts import written_argument
from specdist.processing.processor import Processor
from specdist.processing.recipe_errors import (
    no_value,
    not_a_step,
    unknown_option,
    wrong_value,
)
from specdist.processing.registry import PROCESSORS, processor_named

ONE_HOT = Recipe(one_hot=True)
RAW = Recipe()


def parse_recipe(text: str) -> Recipe:
    """The recipe that ``text`` writes; ``str`` of it is the canonical text.

    ``raw`` is no step, ``one-hot`` the point mass at the drafted token. The same processor may
    stand more than once. Raises `SettingsError` that names the step and what was expected.
    """
    written = text.strip()
    if written == "raw":
        return RAW
    if written in ("one-hot", "one_hot"):
        return ONE_HOT
    steps = []
    before = ""
    for part in written.split(","):
        name, colon, value = part.partition(":")
        if name.strip() in ("", "raw", "one-hot", "one_hot"):
            raise not_a_step(text, part)
        if not colon:
            raise no_value(part, before)
        steps.append(parse_step(processor_named(name), value))
        before = part
    return Recipe(tuple(steps))


def parse_step(processor: Processor, text: str) -> RecipeStep:
    """One step from the text after its name: ``value (":" option "=" value)*``."""
    value, *assignments = text.split(":")
    given: dict[str, Argument] = {}
    readers = {option.name: option.read for option in processor.options}
    for assignment in assignments:
        key, equals, chosen = assignment.partition("=")
        key = key.strip()
        if not equals or key not in readers:
            raise unknown_option(processor, assignment)
        if key in given:
            raise SettingsError(f"{processor.name}: option {key!r} is given twice")
        given[key] = readers[key](f"{processor.name}:{key}", chosen)
    for key in processor.required:
        if key not in given:
            raise SettingsError(
                f"{processor.name} needs the option {key!r}",
                expected=f"{processor.name}:{processor.metavar}:{key}=...",
            )
    try:
        return _step(processor, processor.value(processor.name, value), given)
    except SettingsError as error:
        raise wrong_value(processor, value, error) from None


def _step(processor: Processor, value: Argument, given: Mapping[str, Argument]) -> RecipeStep:
    chosen = {option.name: given.get(option.name, option.default) for option in processor.options}
    text = f"{processor.name}:{written_argument(value)}"
    for option in processor.options:
        if chosen[option.name] != option.default or option.name in processor.required:
            text += f":{option.name}={written_argument(chosen[option.name])}"
    return RecipeStep(processor.name, (("value", value), *chosen.items()), text)


def canonical_names(values: Mapping[str, str]) -> dict[str, str]:
    """Named options under their canonical processor names; no processor twice."""
    named: dict[str, str] = {}
    for name, text in values.items():
        processor = processor_named(name)
        if processor.name in named:
            raise SettingsError(f"{processor.name} is given twice, once as {name!r}")
        named[processor.name] = text
    return named


def build_recipe(values: Mapping[str, str]) -> Recipe:
    """The recipe of named options (``{"temperature": "0.8"}``) in the default order.

    The default order is the order of `PROCESSORS`: masks, bias, penalties, top-n-sigma,
    temperature, min-p, top-k, top-p, typical-p, epsilon, eta. A value may carry options:
    ``{"top-k": "50:ties=lowest-id"}``. Neutral values stay as steps.
    """
    named = canonical_names(values)
    return Recipe(
        tuple(
            parse_step(processor, named[processor.name])
            for processor in PROCESSORS
            if processor.name in named
        )
    )
