"""What a rule is called in a report, and what it claims as it is written."""

from __future__ import annotations

from typing import TYPE_CHECKING

from specdist.model.recipe import RecipeStep
from specdist.rules.joint.names import NAMES
from specdist.rules.registry import RULES, read_rule
from specdist.rules.rule import Rule

if TYPE_CHECKING:
    from specdist.rules.joint.joint_rule import JointRule


def rule_title(text: str) -> str:
    """``lenience:1/2:recovery=target`` as ``TITLE (1/2, recovery target)``, and ``token`` as
    ``token verification``; a rule of the user as it is written."""
    name, _, parameters = text.partition(":")
    found = _found(name)
    if found is None:
        return text
    title = found.title
    if not parameters:
        return title
    shown = ", ".join(part.replace("=", " ", 1) for part in parameters.split(":"))
    return f"{title[:-1]}; {shown})" if title.endswith(")") else f"{title} ({shown})"


def is_lossy(text: str) -> bool:
    """Whether the rule as written is not meant to preserve the target."""
    found = _read(text)
    return found is not None and found[0].lossy(found[1])


def is_mistake(text: str) -> bool:
    """Whether the rule as written is a known mistake."""
    found = _read(text)
    return found is not None and (found[0].kind == "faulty" or found[0].mistaken(found[1]))


def _read(text: str) -> tuple[Rule | JointRule, RecipeStep] | None:
    found = _found(text.partition(":")[0])
    if found is None:
        return None
    if isinstance(found, Rule):
        return read_rule(text)
    from specdist.rules.joint.registry import read_joint_rule

    return read_joint_rule(text)


def _found(name: str) -> Rule | JointRule | None:
    if name in NAMES:
        from specdist.rules.joint.registry import joint_rule_named

        return joint_rule_named(name)
    return next((rule for rule in RULES if rule.name == name), None)
