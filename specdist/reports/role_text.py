"""The roles that disagree, as lines above a table: which recipe each has, and what one lacks."""

from __future__ import annotations

from collections.abc import Sequence

from specdist.model.report import RoleUse
from specdist.reports import layout, page
from specdist.reports.view import plural

_INDENT = 16
_LONGEST = 30
_OWN_ROW = "row"
_LABELS = {
    "reference": "reference",
    "accept_target": "accepted by",
    "residual_target": "residual of",
    "bonus_from": "bonus from",
    "drafted_from": "drafted from",
    "accept_draft": "tested against",
    "residual_draft": "subtracted",
}
_COUNTERPART = {
    "accept_target": "reference",
    "residual_target": "reference",
    "bonus_from": "reference",
    "accept_draft": "drafted_from",
    "residual_draft": "accept_draft",
}


def role_lines(roles: Sequence[RoleUse]) -> list[str]:
    """The roles whose recipe differs from that of their counterpart, beside it. A role with a row
    of its own is always shown: two such rows are called the same and need not be the same."""
    by_name = {use.role: use for use in roles}
    shown: list[str] = []
    for role, counterpart in _COUNTERPART.items():
        use, other = by_name.get(role), by_name.get(counterpart)
        if use is not None and other is not None and _may_differ(use, other):
            shown += [name for name in (counterpart, role) if name not in shown]
    uses = [by_name[name] for name in shown]
    longest = _LONGEST - (page.WIDTH - page.columns())
    wide = any(len(recipe_words(use.recipe)) > longest for use in uses)
    lines: list[str] = []
    for use in uses:
        lines += _wide(use) if wide else [_narrow(use)]
        lines += _missing(use, by_name.get(_COUNTERPART.get(use.role, "")), wide)
    return lines


def _room() -> int:
    return page.columns() - 6


def _may_differ(use: RoleUse, other: RoleUse) -> bool:
    return use.recipe != other.recipe or use.recipe == _OWN_ROW


def _narrow(use: RoleUse) -> str:
    words = f"{_LABELS[use.role]:<{_INDENT}}{use.side}, {recipe_words(use.recipe)}"
    possible = _possible(use)
    return f"{words:<{min(52, _room() - 2 - len(possible))}}  {possible}"


def _wide(use: RoleUse) -> list[str]:
    """A long recipe on lines of its own."""
    head = f"{_LABELS[use.role]:<{_INDENT}}{use.side}, {_possible(use)}"
    return [head, *layout.wrap(recipe_words(use.recipe), " " * _INDENT, width=_room())]


def _possible(use: RoleUse) -> str:
    if use.support is None:
        return "any token possible"
    return f"{plural(use.support, 'token')} possible"


def recipe_words(recipe: str) -> str:
    """``temperature:1,top-p:9/10`` as ``temperature 1, top-p 9/10``; ``own row`` for a row that
    the capture gave to the role itself."""
    if recipe == _OWN_ROW:
        return "own row"
    return ", ".join(step.replace(":", " ", 1) for step in recipe.split(","))


def _missing(use: RoleUse, other: RoleUse | None, wide: bool) -> list[str]:
    """Points at the place of the processors that the counterpart has and this role lacks."""
    if other is None or {"row", "one-hot"} & {use.recipe, other.recipe}:
        return []
    own = {step.split(":")[0] for step in use.recipe.split(",")}
    steps = [step for step in other.recipe.split(",") if step != "raw"]
    lacking = [step for step in steps if step.split(":")[0] not in own]
    if not lacking:
        return []
    names = " and ".join(step.split(":")[0] for step in lacking)
    text = f"{names} {'is' if len(lacking) == 1 else 'are'} missing here"
    first = recipe_words(lacking[0])
    before = recipe_words(other.recipe).index(first)
    lead = 2 if before else 0
    indent = _INDENT + len(f"{other.side}, ") + before - lead
    carets = "^" * (len(first) + lead)
    if wide or indent + len(carets) + len(text) >= _room():
        indent, carets = _INDENT, "^"
    return layout.wrap(text, f"{' ' * indent}{carets} ", width=_room())
