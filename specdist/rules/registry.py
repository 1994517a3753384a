"""The one list of acceptance rules: name, law, and whether the rule is meant to be lossless."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from difflib import get_close_matches

from specdist.errors import SettingsError
from specdist.rules import token_rule
from specdist.rules.outcomes import Outcomes, RoleLaws


@dataclass(frozen=True, slots=True)
class Rule:
    """One acceptance rule for one position. ``page`` is what `specdist explain NAME` prints."""

    name: str
    title: str
    lossless: bool
    outcomes: Callable[[RoleLaws], Outcomes]
    page: str


RULES: tuple[Rule, ...] = (
    Rule(
        "token",
        "token verification",
        True,
        token_rule.token_outcomes,
        token_rule.__doc__ or "",
    ),
)


def rule_named(name: str) -> Rule:
    """The rule of that name. Raises SettingsError with the nearest names."""
    for rule in RULES:
        if rule.name == name:
            return rule
    names = [rule.name for rule in RULES]
    near = get_close_matches(name, names, n=3) or names
    raise SettingsError(
        f"rule={name} is unknown", expected="one of: " + ", ".join(names),
        advice="nearest: " + ", ".join(near),
    )  # fmt: skip
