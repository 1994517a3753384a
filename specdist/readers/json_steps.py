"""One step of a JSON capture: its positions, its bonus row and what is known around it."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, Literal

from specdist.errors import CaptureError
from specdist.model.capture import Position, Step, Vocab
from specdist.model.finding import Finding
from specdist.model.options import ProcessingOptions
from specdist.model.role import Role
from specdist.model.row import Row, Stage
from specdist.readers.json_numbers import type_name
from specdist.readers.json_rows import (
    RowReading,
    is_row,
    one_hot_token,
    point_mass,
    read_row,
    size_of,
    token_id,
)
from specdist.readers.json_settings import (
    merged,
    object_at,
    read_role_recipes,
    read_settings,
    role_of,
    text_of,
    unknown_key,
)
from specdist.readers.strict_json import join

STEP_KEYS = ("id", "context", "prompt_length", "draft_tokens", "settings", "roles", "bonus")
POSITION_KEYS = ("target", "draft", "draft_token", "roles")


@dataclass(frozen=True, slots=True)
class StepReading:
    """What holds for every step of a capture."""

    rows: RowReading
    size: int | None
    options: ProcessingOptions = field(default_factory=ProcessingOptions)
    vocab: Vocab | None = None
    findings: tuple[Finding, ...] = ()
    only: Literal["target", "draft"] | None = None
    """The one side that must be there, when two files are read as a pair."""


def read_step(
    value: Any, path: str, index: int, reading: StepReading, extra_keys: tuple[str, ...] = ()
) -> Step:
    """One step, in the long form (``positions``) or the short one (``target``, ``draft``).

    ``extra_keys`` are keys of the surrounding document that may stand beside the step's own.
    Raises CaptureError or RowError with file and JSON path.
    """
    file = reading.rows.file
    step = object_at(value, path, file)
    long_form = "positions" in step
    known = STEP_KEYS + (("positions",) if long_form else POSITION_KEYS) + extra_keys
    for key in step:
        if key not in known:
            raise unknown_key(key, path, file, (*known, "positions", *POSITION_KEYS))
    positions, draft_tokens = _positions(step, path, reading, long_form)
    size = positions[0].target.size
    context = _context(step, path, reading.rows)
    return Step(
        id=_id(step, path, index, file),
        source=f"{file}, {path}" if path else file,
        positions=positions,
        bonus=_bonus(step, path, size, reading.rows),
        context=context,
        prompt_length=_prompt_length(step, path, context, file),
        draft_tokens=draft_tokens,
        options=_step_options(step, path, reading, long_form, file),
        vocab=reading.vocab,
        findings=reading.findings,
    )


def _step_options(
    step: dict[str, Any], path: str, reading: StepReading, long_form: bool, file: str
) -> ProcessingOptions:
    options = reading.options
    if path and "settings" in step:
        options = merged(options, read_settings(step["settings"], join(path, "settings"), file))
    if long_form and "roles" in step:
        roles = read_role_recipes(step["roles"], join(path, "roles"), file)
        options = merged(options, ProcessingOptions(roles=roles))
    return options


def _positions(
    step: dict[str, Any], path: str, reading: StepReading, long_form: bool
) -> tuple[tuple[Position, ...], tuple[int, ...] | None]:
    file = reading.rows.file
    if long_form:
        items = step["positions"]
        where = join(path, "positions")
        if not isinstance(items, list) or not items:
            what = "an empty list" if items == [] else type_name(items)
            raise CaptureError(
                f"positions cannot be {what}",
                place=f"{file}, {where}",
                expected="a list of at least one position",
            )
        places = [f"{where}[{i}]" for i in range(len(items))]
    else:
        items, places = [{k: step[k] for k in POSITION_KEYS if k in step}], [path]
    tokens = step.get("draft_tokens")
    if tokens is not None and (not isinstance(tokens, list) or len(tokens) != len(items)):
        raise CaptureError(
            f"{len(items)} positions, but draft_tokens is "
            + (f"a list of {len(tokens)}" if isinstance(tokens, list) else type_name(tokens)),
            place=f"{file}, {join(path, 'draft_tokens')}",
            expected="one token id a position",
        )
    positions = tuple(
        _position(item, places[i], i, reading, None if tokens is None else tokens[i])
        for i, item in enumerate(items)
    )
    _same_size(positions, places, file)
    drafted = tuple(p.draft_token for p in positions)
    known = tuple(token for token in drafted if token is not None)
    return positions, known if len(known) == len(drafted) else None


def _position(value: Any, path: str, index: int, reading: StepReading, drafted: Any) -> Position:
    rows = reading.rows
    item = object_at(value, path, rows.file)
    for key in item:
        if key not in POSITION_KEYS:
            raise unknown_key(key, path, rows.file, POSITION_KEYS)
    if reading.only is not None and reading.only in item:
        return _half(item, path, index, reading, drafted)
    if "target" not in item:
        raise CaptureError(
            "there is no target row",
            place=f"{rows.file}, {path or 'top level'}",
            expected="target and draft",
        )
    roles = object_at(item.get("roles", {}), join(path, "roles"), rows.file)
    size = _size(item, roles, path, reading)
    token = _draft_token(item, path, size, rows, drafted)
    target = read_row(item["target"], join(path, "target"), size, rows)
    if "draft" in item:
        draft = read_row(item["draft"], join(path, "draft"), size, rows)
    elif token is not None:
        draft = point_mass(token, join(path, "draft_token"), size, rows)
    else:
        raise CaptureError(
            "there is no draft row",
            place=rows.place(path or "top level"),
            expected="a draft row, or the drafted token in draft_tokens (a one-hot draft)",
        )
    return Position(index, target, draft, token, _roles(roles, path, size, rows))


def _half(
    item: dict[str, Any], path: str, index: int, reading: StepReading, drafted: Any
) -> Position:
    """A position of which one side counts; the other is filled with the same row."""
    side = reading.only or "target"
    size = _size({"target": item[side]}, {}, path, reading)
    row = read_row(item[side], join(path, side), size, reading.rows)
    token = _draft_token(item, path, size, reading.rows, drafted)
    roles = object_at(item.get("roles", {}), join(path, "roles"), reading.rows.file)
    return Position(index, row, row, token, _roles(roles, path, size, reading.rows))


def _size(item: dict[str, Any], roles: dict[str, Any], path: str, reading: StepReading) -> int:
    target, draft = size_of(item["target"]), size_of(item.get("draft"))
    if target is not None and draft is not None and target != draft:
        raise CaptureError(
            f"the target row has {target} numbers, the draft row {draft}",
            place=reading.rows.place(path or "top level"),
            expected="two rows over the same vocabulary",
            advice='a token that one side cannot emit is 0 (or "-inf") there',
        )
    others = [size_of(row) for row in roles.values()]
    sizes = [reading.size, target, draft, *others]
    size = next((size for size in sizes if size is not None), None)
    if size is None:
        raise CaptureError(
            "the size of the vocabulary is unknown",
            place=reading.rows.place(path or "top level"),
            expected='"vocab" or "vocab_size" beside rows that are maps',
            advice="or pass --vocab-size",
        )
    return size


def _draft_token(
    item: dict[str, Any], path: str, size: int, rows: RowReading, listed: Any
) -> int | None:
    found = [
        token_id(token, where, size, rows)
        for token, where in (
            (listed, join(path, "draft_token")),
            (item.get("draft_token"), join(path, "draft_token")),
            (one_hot_token(item.get("draft")), join(path, "draft.one_hot")),
        )
        if token is not None
    ]
    if len(set(found)) > 1:
        raise CaptureError(
            f"token {found[0]} was drafted here, and token {found[-1]} as well",
            place=rows.place(path or "top level"),
            expected="one drafted token a position",
        )
    return found[0] if found else None


def _roles(roles: dict[str, Any], path: str, size: int, rows: RowReading) -> dict[Role, str | Row]:
    """Recipes as texts; explicit rows are laws in themselves, so their stage is processed."""
    final = replace(rows, stage=Stage.PROCESSED)
    where = join(path, "roles")
    result: dict[Role, str | Row] = {}
    for key, value in roles.items():
        role = role_of(key, where, rows.file)
        if is_row(value):
            result[role] = read_row(value, join(where, key), size, final)
        else:
            result[role] = text_of(value, join(where, key), rows.file)
    return result


def _same_size(positions: tuple[Position, ...], places: list[str], file: str) -> None:
    size = positions[0].target.size
    for position, place in zip(positions, places, strict=True):
        if position.target.size != size:
            raise CaptureError(
                f"{position.target.size} tokens here, {size} at position 0",
                place=f"{file}, {place}",
                expected="one vocabulary for the whole step",
            )


def _bonus(step: dict[str, Any], path: str, size: int, rows: RowReading) -> Row | None:
    value = step.get("bonus")
    if value is None:
        return None
    where = join(path, "bonus")
    if isinstance(value, dict) and set(value) == {"target"}:
        return read_row(value["target"], join(where, "target"), size, rows)
    return read_row(value, where, size, rows)


def _context(step: dict[str, Any], path: str, rows: RowReading) -> tuple[int, ...] | None:
    """Token ids before the step; ids beyond the rows are no error, for a row may be cut."""
    value = step.get("context")
    if value is None:
        return None
    where = join(path, "context")
    if not isinstance(value, list):
        raise CaptureError(
            f"context cannot be {type_name(value)}",
            place=rows.place(where),
            expected="a list of token ids",
        )
    for index, token in enumerate(value):
        if type(token) is not int or token < 0:
            what = "negative" if type(token) is int else type_name(token)
            raise CaptureError(
                f"a token id cannot be {what}",
                place=rows.place(f"{where}[{index}]"),
                expected="a whole number from 0",
            )
    return tuple(value)


def _prompt_length(
    step: dict[str, Any], path: str, context: tuple[int, ...] | None, file: str
) -> int | None:
    value = step.get("prompt_length")
    if value is None:
        return None
    most = len(context or ())
    if type(value) is not int or not 0 <= value <= most:
        raise CaptureError(
            "prompt_length is not a length within the context",
            place=f"{file}, {join(path, 'prompt_length')}",
            expected=f"a whole number from 0 to {most}, the length of context",
        )
    return value


def _id(step: dict[str, Any], path: str, index: int, file: str) -> str:
    value = step.get("id", index)
    if (isinstance(value, str) and value) or type(value) is int:
        return str(value)
    raise CaptureError(
        "an id cannot be empty" if value == "" else f"an id cannot be {type_name(value)}",
        place=f"{file}, {join(path, 'id')}",
        expected="a text or a whole number",
    )
