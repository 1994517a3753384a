"""The one list of rules over proposals."""

from __future__ import annotations

from specdist.errors import SettingsError
from specdist.model.recipe import RecipeStep
from specdist.model.step_forms import nearest_names, read_step
from specdist.rules.joint.block_rule import BLOCK
from specdist.rules.joint.greedy_drafts_rule import GREEDY_DRAFTS
from specdist.rules.joint.joint_rule import JointRule
from specdist.rules.joint.k_seq_rule import K_SEQ
from specdist.rules.joint.names import canonical
from specdist.rules.joint.rrs_rule import RRS
from specdist.rules.joint.sample_and_compare_rule import SAMPLE_AND_COMPARE
from specdist.rules.joint.spechub_rule import SPECHUB
from specdist.rules.joint.target_only_rule import TARGET_ONLY
from specdist.rules.joint.token_chain_rule import TOKEN_CHAIN
from specdist.rules.joint.traversal_rule import TRAVERSAL
from specdist.rules.joint.window_rule import WINDOW

JOINT_RULES: tuple[JointRule, ...] = (
    TOKEN_CHAIN,
    BLOCK,
    WINDOW,
    RRS,
    K_SEQ,
    SAMPLE_AND_COMPARE,
    TARGET_ONLY,
    GREEDY_DRAFTS,
    SPECHUB,
    TRAVERSAL,
)


def joint_rule_named(name: str) -> JointRule:
    """The rule of that name or alias; underscores are read as hyphens. Raises SettingsError with
    the nearest names."""
    known = _by_name()
    written = canonical(name)
    if written in known:
        return known[written]
    raise SettingsError(
        f"rule={name[:40]} is unknown",
        expected="one of: " + ", ".join(rule.name for rule in JOINT_RULES),
        advice=nearest_names(written, known, lambda near: known[near].name),
    )


def read_joint_rule(text: str) -> tuple[JointRule, RecipeStep]:
    """The rule that ``name[:value][:option=value...]`` writes, and its parameters.

    Raises SettingsError that names the rule, the parameter and what was expected.
    """
    name, _, rest = text.partition(":")
    rule = joint_rule_named(name)
    return rule, read_step(rule, rest)


def _by_name() -> dict[str, JointRule]:
    return {alias: rule for rule in JOINT_RULES for alias in (rule.name, *rule.aliases)}
