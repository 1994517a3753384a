"""The one list of acceptance rules."""

from __future__ import annotations

from specdist.errors import SettingsError
from specdist.model.recipe import RecipeStep
from specdist.model.step_forms import nearest_names, read_step
from specdist.rules import token_rule
from specdist.rules.rule import Rule

RULES: tuple[Rule, ...] = (token_rule.TOKEN,)


def rule_named(name: str) -> Rule:
    """The rule of that name or alias; underscores are read as hyphens. Raises SettingsError with
    the nearest names."""
    written = name.strip().replace("_", "-")
    known = {alias: rule for rule in RULES for alias in (rule.name, *rule.aliases)}
    if written in known:
        return known[written]
    raise SettingsError(
        f"rule={name[:40]} is unknown",
        expected="one of: " + ", ".join(rule.name for rule in RULES),
        advice=nearest_names(written, known, lambda near: known[near].name),
    )


def read_rule(text: str) -> tuple[Rule, RecipeStep]:
    """The rule that ``name[:value][:option=value...]`` writes, and its parameters.

    Raises SettingsError that names the rule, the parameter and what was expected.
    """
    name, _, rest = text.partition(":")
    rule = rule_named(name)
    return rule, read_step(rule, rest)
