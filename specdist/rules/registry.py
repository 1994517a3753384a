"""The one list of acceptance rules."""

from __future__ import annotations

from specdist.errors import SettingsError
from specdist.model.recipe import RecipeStep
from specdist.model.step_forms import nearest_names, read_step
from specdist.rules.always_rule import ALWAYS
from specdist.rules.cactus_rule import CACTUS
from specdist.rules.cascade_rule import CASCADE
from specdist.rules.classical_rule import CLASSICAL
from specdist.rules.divergence_gate_rule import DIVERGENCE_GATE
from specdist.rules.exact_match import EXACT_MATCH
from specdist.rules.given_rule import GIVEN
from specdist.rules.judge_rule import JUDGE
from specdist.rules.lenience_rule import LENIENCE
from specdist.rules.mixture_rule import MIXTURE
from specdist.rules.one_hot_rule import ONE_HOT
from specdist.rules.optimal_loss_rule import OPTIMAL_LOSS
from specdist.rules.relaxed_rule import RELAXED
from specdist.rules.reused_noise_rule import REUSED_NOISE
from specdist.rules.rule import Rule
from specdist.rules.shared_noise_rule import SHARED_NOISE
from specdist.rules.synthetic_rule import SYNTHETIC
from specdist.rules.thresholds_rule import THRESHOLDS
from specdist.rules.token_rule import TOKEN
from specdist.rules.top_beta_rule import TOP_BETA
from specdist.rules.typical_rule import TYPICAL

RULES: tuple[Rule, ...] = (
    TOKEN,
    EXACT_MATCH,
    ONE_HOT,
    CLASSICAL,
    LENIENCE,
    TYPICAL,
    CASCADE,
    RELAXED,
    TOP_BETA,
    THRESHOLDS,
    MIXTURE,
    CACTUS,
    DIVERGENCE_GATE,
    JUDGE,
    SYNTHETIC,
    ALWAYS,
    OPTIMAL_LOSS,
    SHARED_NOISE,
    REUSED_NOISE,
    GIVEN,
)


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
    if name.strip().endswith(".py"):
        raise SettingsError(
            f"the rule {text[:60]} is a Python file",
            expected="a rule by name",
            advice="a rule from a file is code, which only --rule on the command line runs",
        )
    rule = rule_named(name)
    return rule, read_step(rule, rest)
