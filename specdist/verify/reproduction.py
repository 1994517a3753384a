"""The line to paste that shows a finding again, for positions small enough to type."""

from __future__ import annotations

import shlex
from fractions import Fraction

from specdist.model.capture import Position, Step
from specdist.model.recipe import Recipe
from specdist.model.role import DRAFT_ROLES, Role
from specdist.model.row import Kind, PointMass, RationalValues, Row
from specdist.model.settings import CheckSettings
from specdist.verify.position_laws import PositionLaws

_LONGEST_ROW = 16
_LONGEST_NUMBER = 24
_SUFFIX = {Kind.PROBABILITIES: "", Kind.LOGITS: "-logits", Kind.LOGPROBS: "-logprobs"}


def what_if_line(
    step: Step, position: Position, found: PositionLaws, settings: CheckSettings
) -> str | None:
    """A `specdist what-if` command with the same rows and roles, or None if it would be long."""
    rows = [_row_option("target", position.target), _row_option("draft", position.draft)]
    if None in rows or any(isinstance(entry, Row) for entry in position.roles.values()):
        return None
    used = {use.role: use.recipe for use in found.uses}
    target = used[Role.REFERENCE.value]
    draft = _most_common([used[role.value] for role in DRAFT_ROLES])
    parts = ["specdist what-if", *[row for row in rows if row is not None]]
    if target != str(Recipe()):
        parts.append(_option("recipe", target))
    if draft not in (target, "one-hot"):
        parts.append(_option("draft-recipe", draft))
    side = {role.value: target if role not in DRAFT_ROLES else draft for role in Role}
    for role, recipe in used.items():
        if recipe != side[role]:
            parts.append(_option("role", f"{role}={recipe}"))
    if settings.normalise:
        parts.append("--normalise")
    return " ".join(parts) if _context_free(used.values()) else None


def _most_common(recipes: list[str]) -> str:
    plain = [recipe for recipe in recipes if recipe != "one-hot"]
    return max(plain, key=plain.count) if plain else "one-hot"


def _context_free(recipes: object) -> bool:
    """Penalties and min-tokens take a history that the line would not carry."""
    text = " ".join(map(str, recipes))  # type: ignore[call-overload]
    return "penalty" not in text and "min-tokens" not in text


def _option(name: str, value: str) -> str:
    quoted = shlex.quote(value)
    return f"--{name}={quoted}" if value.startswith("-") else f"--{name} {quoted}"


def _row_option(side: str, row: Row) -> str | None:
    if isinstance(row.values, PointMass):
        return f"--draft-token {row.values.token}" if side == "draft" else None
    if not isinstance(row.values, RationalValues) or row.size > _LONGEST_ROW:
        return None
    numbers = [_number(value) for value in row.values.values]
    if any(len(number) > _LONGEST_NUMBER for number in numbers):
        return None
    return _option(side + _SUFFIX[row.kind], ",".join(numbers))


def _number(value: Fraction | None) -> str:
    return "-inf" if value is None else str(value)
