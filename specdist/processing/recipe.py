"""Recipes: read from texts, built from named options, written canonically by ``str``.

``RECIPE = "raw" | "one-hot" | step ("," step)*`` with
``step = name ":" value (":" option "=" value)*``. Lists are joined with ``+``, numbers are exact.
"""

from __future__ import annotations

from collections.abc import Mapping

from specdist.errors import SettingsError
from specdist.model.recipe import Recipe
from specdist.model.step_forms import read_step
from specdist.processing.recipe_errors import no_value, not_a_step
from specdist.processing.registry import PROCESSORS, processor_named

ONE_HOT = Recipe(one_hot=True)
RAW = Recipe()
OFF = "off"
"""The text of a named option that removes what an earlier layer said."""


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
        steps.append(read_step(processor_named(name), value))
        before = part
    return Recipe(tuple(steps))


def canonical_names(values: Mapping[str, str]) -> dict[str, str]:
    """Named options under their canonical processor names; no processor twice."""
    named: dict[str, str] = {}
    for name, text in values.items():
        processor = processor_named(name)
        if processor.name in named:
            raise SettingsError(f"{processor.name} is given twice, once as {name!r}")
        named[processor.name] = text
    return named


def given_values(named: Mapping[str, str]) -> dict[str, str]:
    """Named options without those that are switched off."""
    return {name: text for name, text in named.items() if text.strip() != OFF}


def build_recipe(values: Mapping[str, str]) -> Recipe:
    """The recipe of named options (``{"temperature": "0.8"}``) in the default order.

    The default order is the order of `PROCESSORS`: masks, bias, penalties, top-n-sigma,
    temperature, min-p, top-k, top-p, typical-p, epsilon, eta. A value may carry options:
    ``{"top-k": "50:ties=lowest-id"}``. Neutral values stay as steps; ``off`` is no step.
    """
    named = given_values(canonical_names(values))
    return Recipe(
        tuple(
            read_step(processor, named[processor.name])
            for processor in PROCESSORS
            if processor.name in named
        )
    )
