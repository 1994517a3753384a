"""Rules of both registries, and how a rule from a Python file is told from them."""

from __future__ import annotations

import re

from specdist.errors import SettingsError
from specdist.model.step_forms import nearest_names
from specdist.rules.joint.names import NAMES, is_joint
from specdist.rules.registry import RULES, read_rule, rule_named

_FROM_FILE = re.compile(r"(?P<file>.+\.py)(:(?P<name>.*))?", re.DOTALL)


def file_and_class(text: str) -> tuple[str, str] | None:
    """``("my_rule.py", "MyRule")`` of a rule written ``my_rule.py:MyRule``; None for the others.
    The name is empty where it is missing."""
    match = _FROM_FILE.fullmatch(text.strip())
    return None if match is None else (match["file"], (match["name"] or "").strip())


def check_rule(text: str) -> None:
    """Reads a rule of either registry. Raises SettingsError naming rule, parameter and range."""
    if is_joint(text):
        from specdist.rules.joint.registry import read_joint_rule

        read_joint_rule(text)
        return
    try:
        read_rule(text)
    except SettingsError as error:
        raise _with_both(error, text) from None


def _with_both(error: SettingsError, text: str) -> SettingsError:
    """The error of an unknown name, with the names of both registries."""
    name = text.partition(":")[0]
    if file_and_class(text) is not None:
        return error
    try:
        rule_named(name)
    except SettingsError:
        known = {alias: rule.name for rule in RULES for alias in (rule.name, *rule.aliases)}
        known |= {alias: joint for joint, others in NAMES.items() for alias in (joint, *others)}
        error.expected = "one of: " + ", ".join(dict.fromkeys(known.values()))
        written = name.strip().replace("_", "-")
        error.advice = nearest_names(written, known, known.__getitem__)
    return error
