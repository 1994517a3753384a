"""The one list of length rules."""

from __future__ import annotations

from specdist.errors import SettingsError
from specdist.model.recipe import RecipeStep
from specdist.model.step_forms import nearest_names, read_step
from specdist.rules.lengths.captured_lengths import BLOCKS, PROFILE
from specdist.rules.lengths.confidence_rule import CONFIDENCE, SURVIVAL
from specdist.rules.lengths.fixed_length import FIXED
from specdist.rules.lengths.kept_tokens import KEPT_TOKENS
from specdist.rules.lengths.length_rule import LengthRule
from specdist.rules.lengths.scheduler_rule import SCHEDULER
from specdist.rules.lengths.stop_after_rule import STOP_AFTER

LENGTH_RULES: tuple[LengthRule, ...] = (
    FIXED,
    STOP_AFTER,
    *KEPT_TOKENS,
    CONFIDENCE,
    SURVIVAL,
    SCHEDULER,
    PROFILE,
    BLOCKS,
)


def length_rule_named(name: str) -> LengthRule:
    """The rule of that name or alias; underscores are read as hyphens. Raises SettingsError with
    the nearest names."""
    written = name.strip().replace("_", "-")
    known = {alias: rule for rule in LENGTH_RULES for alias in (rule.name, *rule.aliases)}
    if written in known:
        return known[written]
    raise SettingsError(
        f"length={name[:40]} is unknown",
        expected="one of: " + ", ".join(rule.name for rule in LENGTH_RULES),
        advice=nearest_names(written, known, lambda near: known[near].name),
    )


def read_length_rule(text: str) -> tuple[LengthRule, RecipeStep]:
    """The rule that ``name[:value][:option=value...]`` writes, and its parameters.

    Raises SettingsError that names the rule, the parameter and what was expected.
    """
    name, _, rest = text.partition(":")
    rule = length_rule_named(name)
    return rule, read_step(rule, rest)
