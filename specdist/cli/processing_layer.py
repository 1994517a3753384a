"""One layer's processing options, each tried so that a bad value is reported with its origin."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from specdist.cli import option_values as read
from specdist.cli.layers import Layer, placed
from specdist.cli.processing_options import BOTH_SIDES, DRAFT_SIDE
from specdist.errors import SettingsError
from specdist.model import numerics, proposal
from specdist.model.options import ProcessingOptions
from specdist.model.preset import Preset
from specdist.model.role import Role
from specdist.model.user_rule import UserRule


def processing(
    layer: Layer, preset: Preset | None, user_rule: UserRule | None = None
) -> ProcessingOptions:
    """The processing options of a layer. Raises SettingsError naming option, range and origin.

    ``user_rule`` is the layer's rule where it was loaded from a file."""
    from specdist.rules.any_rule import check_rule

    options = ProcessingOptions(
        target={o.name: layer.values[o.name] for o in BOTH_SIDES if o.name in layer.values},
        draft={
            o.name.removeprefix("draft-"): layer.values[o.name]
            for o in DRAFT_SIDE
            if o.name in layer.values
        },
        recipe=layer.values.get("recipe"),
        draft_recipe=layer.values.get("draft-recipe"),
        roles=_roles(layer.values.get("role", ())),
        rule=layer.values.get("rule"),
        numerics=_texts(layer.values, numerics.NAMES),
        proposal=_texts(layer.values, proposal.NAMES),
    )
    with placed(layer.origin):
        _try(options, preset)
        if options.rule is not None and user_rule is None:
            check_rule(options.rule)
    return options


def _texts(values: Mapping[str, Any], names: Iterable[str]) -> dict[str, str]:
    """Option texts by name; a flag that is set reads "yes"."""
    found = {name: values[name] for name in names if name in values}
    return {name: "yes" if value is True else value for name, value in found.items()}


def _try(options: ProcessingOptions, preset: Preset | None) -> None:
    from specdist.processing import build_recipe, resolve_recipes
    from specdist.rules.keep_rules import read_keep

    build_recipe(options.target)
    build_recipe(options.draft)
    resolve_recipes([options], preset)
    numerics.read_numerics(options.numerics)
    proposal.read_proposal(None, options.proposal)
    if "keep" in options.proposal:
        read_keep(options.proposal["keep"])


def _roles(texts: Iterable[str]) -> dict[Role, str]:
    roles: dict[Role, str] = {}
    for text in texts:
        name, equals, recipe = text.partition("=")
        name = name.strip().replace("-", "_")
        known = [role.value for role in Role]
        if not equals or name not in known:
            raise SettingsError(
                f"role={text} is not ROLE=RECIPE" if not equals else f"unknown role {name!r}",
                expected=f"one of {', '.join(known)}, then = and a recipe",
                advice=read.near(name, known),
            )
        if Role(name) in roles:
            raise SettingsError(f"role {name} is given twice", expected="one recipe a role")
        roles[Role(name)] = recipe
    return roles
