"""The line to paste that shows a finding again, for positions small enough to type."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterable, Iterator, Mapping
from fractions import Fraction

from specdist.model.capture import Position
from specdist.model.numerics import Numerics, written_numerics
from specdist.model.recipe import Recipe
from specdist.model.report import RoleUse
from specdist.model.role import DRAFT_ROLES, TARGET_ROLES, Role
from specdist.model.row import Kind, NumberFormat, PointMass, RationalValues, Row
from specdist.model.settings import CheckSettings
from specdist.processing.recipe_layers import DEFAULT_RULE
from specdist.verify.plan import Plan

_RAW = str(Recipe())
LONGEST_ROW = 16
LONGEST_NUMBER = 24
_UNBROKEN = 44
LONGEST_OF_FEW = 40
"""How long a number of a row of at most four tokens may be."""
_SUFFIX = {Kind.PROBABILITIES: "", Kind.LOGITS: "-logits", Kind.LOGPROBS: "-logprobs"}
_NEEDS_MORE = ("penalty", "min-tokens", "lazy-allowed", "retokenise", "vocab-map:given")
"""Steps that look at what a typed line does not carry: a history, token texts, a map."""

Rows = Mapping[Role, Row]
Uses = Iterable[RoleUse]


def reproduction(
    position: Position, uses: Uses, plan: Plan, settings: CheckSettings, tolerated: bool = False
) -> str | None:
    """A command with the same rows and settings, or None where it would be long or incomplete.

    Rows by role are written as a capture for ``specdist check -``; everything else is a
    ``specdist what-if``. ``tolerated``: the line repeats the tolerance of the run.
    """
    used = {use.role: use.recipe for use in uses}
    rows = {role: entry for role, entry in position.roles.items() if isinstance(entry, Row)}
    if _needs_more(used.values()) or not _typeable(position, rows):
        return None
    options = [
        *_recipe_options(used),
        *_rule_options(plan, typed=not rows and bool(_given(position, plan))),
        *_numeric_options(plan.numerics),
        *_proposal_options(position, plan),
        *(["--normalise"] if settings.normalise else []),
        *([_option("max-tv", str(settings.max_tv))] if tolerated else []),
    ]
    if not rows:
        return " ".join(
            ["specdist what-if", *_row_options(position, _given(position, plan)), *options]
        )
    used_rows = {role: row for role, row in rows.items() if used.get(role.value) == "row"}
    if position.draft.size != position.target.size:
        return None
    members = _members(position, used_rows) | {
        name: list(map(str, row)) for name, row in _given(position, plan).items()
    }
    return captured_line(members, position.target.kind, options)


def captured_line(members: Mapping[str, object], kind: Kind, options: Iterable[str]) -> str:
    """``printf`` of a one-line capture into ``specdist check -``."""
    text = json.dumps({"kind": kind.value, **members}, separators=(",", ":"))
    for end in ("]", "}", '"'):  # places where a long line may be broken
        text = text.replace(f"{end},", f"{end}, ")
    return " ".join([f"printf '%s' {shlex.quote(text)} | specdist check -", *options])


def bonus_line(
    row: Row, uses: Uses, own: Row | None, settings: CheckSettings, tolerated: bool = False
) -> str | None:
    """A capture whose one position is right and whose bonus row is the one at hand. ``own`` is the
    row that the capture says the bonus is drawn from."""
    used = {use.role: use.recipe for use in uses}
    drawn, asked = used[Role.BONUS_FROM.value], used[Role.REFERENCE.value]
    rows = [row] if own is None else [row, own]
    if _needs_more([drawn, asked]) or not all(map(_short, rows)):
        return None
    if len({each.kind for each in rows if not _is_point(each)}) != 1:
        return None
    numbers = _numbers(row)
    members: dict[str, object] = {"target": numbers, "draft": numbers, "bonus": numbers}
    options = [_option("recipe", asked)] if asked != _RAW else []
    if own is not None:
        members["roles"] = {Role.BONUS_FROM.value: _numbers(own)}
    else:
        options.append(_option("role", f"{Role.BONUS_FROM.value}={drawn}"))
    options += ["--normalise"] if settings.normalise else []
    options += [_option("max-tv", str(settings.max_tv))] if tolerated else []
    return captured_line(members, row.kind, options)


def _typeable(position: Position, rows: Rows) -> bool:
    sides = [position.target, position.draft]
    if not all(_short(row) for row in (*sides, *rows.values())):
        return False
    if isinstance(position.target.values, PointMass):
        return False
    kinds = {row.kind for row in (*sides, *rows.values()) if not _is_point(row)}
    by_token = [position.keep or (), *position.given.values()]
    numbers = [number for row in by_token for number in row]
    return (not rows or len(kinds) == 1) and all(_is_short(number) for number in numbers)


def _short(row: Row) -> bool:
    if isinstance(row.values, PointMass):
        return row.size <= LONGEST_ROW
    if not isinstance(row.values, RationalValues) or row.size > LONGEST_ROW:
        return False
    exact = row.numbers is NumberFormat.DECIMAL or row.kind is not Kind.PROBABILITIES
    longest = LONGEST_OF_FEW if row.size <= 4 else LONGEST_NUMBER
    numbers = [value for value in row.values.values if value is not None]
    return exact and all(len(str(number)) <= longest for number in numbers)


def _is_short(number: Fraction) -> bool:
    return len(str(number)) <= LONGEST_NUMBER


def _is_point(row: Row) -> bool:
    return isinstance(row.values, PointMass)


def _needs_more(recipes: Iterable[str]) -> bool:
    text = " ".join(recipes)
    return any(name in text for name in _NEEDS_MORE)


def _recipe_options(used: Mapping[str, str]) -> Iterator[str]:
    """The recipes of the two sides, and the roles that have another one. What replaces a dropped
    token is no role of a line without a bonus row, so its recipe is that of the side."""
    target = used.get(Role.BONUS_FROM.value, used[Role.REFERENCE.value])
    if target == "row":
        target = _of_side([used[role.value] for role in TARGET_ROLES if role.value in used])
    draft = _of_side([used[role.value] for role in DRAFT_ROLES], otherwise=target)
    if target != _RAW:
        yield _option("recipe", target)
    if draft != target:
        yield _option("draft-recipe", draft)
    for role, recipe in used.items():
        side = draft if Role(role) in DRAFT_ROLES else target
        if recipe not in (side, "row"):
            yield _option("role", f"{role}={recipe}")


def _of_side(recipes: list[str], otherwise: str = _RAW) -> str:
    """The recipe that most roles of a side have, the first of them where that is open."""
    plain = [recipe for recipe in recipes if recipe not in ("one-hot", "row")]
    return max(plain, key=plain.count) if plain else otherwise


def _rule_options(plan: Plan, typed: bool) -> Iterator[str]:
    """The rule; typed rows of the rule `given` name it already."""
    if plan.use.text != DEFAULT_RULE and not typed:
        yield _option("rule", plan.use.text)


def _given(position: Position, plan: Plan) -> Mapping[str, tuple[Fraction, ...]]:
    return position.given if plan.rule.name == "given" else {}


def _numeric_options(numerics: Numerics) -> Iterator[str]:
    for name, text in written_numerics(numerics).items():
        yield f"--{name}" if name == "unnormalised" else _option(name, text)


def _proposal_options(position: Position, plan: Plan) -> Iterator[str]:
    if plan.proposal is None and position.keep is None:
        return
    if plan.proposal is not None and plan.proposal.keep is not None:
        yield _option("keep", plan.proposal.keep.text)
    for name, value in plan.keep_options.items():
        yield _option(name, value)


def _row_options(position: Position, given: Mapping[str, tuple[Fraction, ...]]) -> Iterator[str]:
    yield _row_option("target", position.target)
    yield _row_option("draft", position.draft)
    if position.keep is not None:
        yield _option("keep-row", _spelled(position.keep))
    for name, values in given.items():
        yield _option(name, _spelled(values))


def _row_option(side: str, row: Row) -> str:
    if isinstance(row.values, PointMass):
        return f"--draft-token {row.values.token}"
    if not isinstance(row.values, RationalValues):
        raise TypeError("only exact rows are typed")
    return _option(side + _SUFFIX[row.kind], _spelled(map(_number, row.values.values)))


def _members(position: Position, rows: Rows) -> dict[str, object]:
    members: dict[str, object] = {
        "target": _numbers(position.target),
        "draft": _numbers(position.draft),
        "roles": {role.value: _numbers(row) for role, row in rows.items()},
    }
    if position.keep is not None:
        members["keep"] = list(map(str, position.keep))
    return members


def _numbers(row: Row) -> object:
    if isinstance(row.values, PointMass):
        return {"one_hot": row.values.token}
    if not isinstance(row.values, RationalValues):
        raise TypeError("only exact rows are typed")
    return list(map(_number, row.values.values))


def _option(name: str, value: str) -> str:
    quoted = shlex.quote(value)
    return f"--{name}={quoted}" if value.startswith("-") else f"--{name} {quoted}"


def _spelled(values: Iterable[object]) -> str:
    """Numbers of a row; a long row has blanks, where its line can be broken."""
    text = ",".join(map(str, values))
    return text if len(text) <= _UNBROKEN else text.replace(",", ", ")


def _number(value: Fraction | None) -> str:
    return "-inf" if value is None else str(value)
