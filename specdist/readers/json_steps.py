"""One step of a JSON capture: its positions, its bonus row and what is known around it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from specdist.errors import CaptureError
from specdist.model.capture import Position, Step
from specdist.model.options import ProcessingOptions
from specdist.model.role import Role
from specdist.model.row import Row, Stage
from specdist.readers.json_batches import REQUESTS_KEY, read_batch
from specdist.readers.json_given import with_given_rule
from specdist.readers.json_listed import read_any_row
from specdist.readers.json_models import MODEL_KEYS, read_model_step, without_models
from specdist.readers.json_numbers import type_name
from specdist.readers.json_open_ended import opened
from specdist.readers.json_positions import (
    POSITION_KEYS,
    StepReading,
    check_same_size,
    read_position,
)
from specdist.readers.json_rows import RowReading, is_row
from specdist.readers.json_settings import (
    merged,
    object_at,
    read_role_recipes,
    read_settings,
    unknown_key,
)
from specdist.readers.json_step_facts import context_of, id_of, prompt_length_of
from specdist.readers.json_times import TIMES_KEY, times_of
from specdist.readers.json_token_rows import read_map_of
from specdist.readers.notes import clamp_notes
from specdist.readers.strict_json import join

STEP_KEYS = (
    "id",
    "context",
    "prompt_length",
    "draft_tokens",
    "draft_map",
    "settings",
    "roles",
    "bonus",
    TIMES_KEY,
)


def read_step(
    value: Any, path: str, index: int, reading: StepReading, extra_keys: tuple[str, ...] = ()
) -> Step:
    """One step, in the long form (``positions``) or the short one (``target``, ``draft``).

    ``extra_keys`` are keys of the surrounding document that may stand beside the step's own.
    Raises CaptureError or RowError with file and JSON path.
    """
    members = object_at(value, path, reading.rows.file)
    times = times_of(members, path, reading.rows.file)
    rest = {key: member for key, member in members.items() if key != TIMES_KEY}
    if REQUESTS_KEY in members:
        step = read_batch(rest, path, index, reading, extra_keys)
    elif "models" in members:
        step = read_model_step(rest, path, index, reading, extra_keys)
    else:
        step = _row_step(rest, path, index, reading, extra_keys)
    return replace(step, times=times)


def _row_step(
    step: dict[str, Any], path: str, index: int, reading: StepReading, extra_keys: tuple[str, ...]
) -> Step:
    """A step whose rows are those of its positions."""
    file = reading.rows.file
    long_form = "positions" in step
    known = STEP_KEYS + (("positions",) if long_form else POSITION_KEYS) + extra_keys
    for key in step:
        if key not in known:
            if key in MODEL_KEYS:
                raise without_models(key, path, file)
            raise unknown_key(key, path, file, (*known, "positions", *POSITION_KEYS, *MODEL_KEYS))
    if long_form and "draft_map" in step:
        reading = replace(reading, draft_map=read_map_of(step, path, file) or reading.draft_map)
    reading = opened(step, reading)
    positions, draft_tokens = _positions(step, path, reading, long_form)
    size = positions[0].target.size
    bonus = _bonus(step, path, size, reading.rows)
    positions, bonus_from = _bonus_from(step, path, positions, bonus, reading)
    context = context_of(step, path, reading.rows)
    options = _step_options(step, path, reading, long_form, file)
    return Step(
        id=id_of(step, path, index, file),
        source=f"{file}, {path}" if path else file,
        positions=positions,
        bonus=bonus,
        bonus_from=bonus_from,
        context=context,
        prompt_length=prompt_length_of(step, path, context, file),
        draft_tokens=draft_tokens,
        options=options if reading.only else with_given_rule(options, positions),
        vocab=reading.vocab,
        draft_vocab=reading.draft_vocab,
        findings=(*reading.findings, *clamp_notes(_rows(positions, bonus))),
    )


def _rows(positions: tuple[Position, ...], bonus: Row | None) -> list[Row]:
    rows = [row for position in positions for row in (position.target, position.draft)]
    return rows if bonus is None else [*rows, bonus]


def _step_options(
    step: dict[str, Any], path: str, reading: StepReading, long_form: bool, file: str
) -> ProcessingOptions:
    options = reading.options
    if path and "settings" in step:
        options = merged(options, read_settings(step["settings"], join(path, "settings"), file))
    if long_form and "roles" in step:
        recipes = object_at(step["roles"], join(path, "roles"), file)
        recipes = {key: entry for key, entry in recipes.items() if not _is_bonus_row(key, entry)}
        roles = read_role_recipes(recipes, join(path, "roles"), file)
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
        read_position(item, places[i], i, reading, None if tokens is None else tokens[i])
        for i, item in enumerate(items)
    )
    check_same_size(positions, places, file)
    drafted = tuple(p.draft_token for p in positions)
    known = tuple(token for token in drafted if token is not None)
    return positions, known if len(known) == len(drafted) else None


def _bonus(step: dict[str, Any], path: str, size: int, rows: RowReading) -> Row | None:
    value = step.get("bonus")
    if value is None:
        return None
    where = join(path, "bonus")
    if isinstance(value, dict) and set(value) == {"target"}:
        return read_any_row(value["target"], join(where, "target"), size, rows)
    return read_any_row(value, where, size, rows)


def _is_bonus_row(key: str, entry: Any) -> bool:
    return key.replace("-", "_") == Role.BONUS_FROM.value and is_row(entry)


def _bonus_from(
    step: dict[str, Any],
    path: str,
    positions: tuple[Position, ...],
    bonus: Row | None,
    reading: StepReading,
) -> tuple[tuple[Position, ...], str | Row | None]:
    """What the bonus is drawn from, wherever the capture says so, and positions without it."""
    found: list[str | Row] = [p.roles[Role.BONUS_FROM] for p in positions if _names_bonus(p)]
    if "positions" in step:
        rows = replace(reading.rows, stage=Stage.PROCESSED)
        where = join(path, "roles")
        for key, entry in object_at(step.get("roles", {}), where, rows.file).items():
            if _is_bonus_row(key, entry):
                found.append(read_any_row(entry, join(where, key), positions[0].target.size, rows))
    if found and bonus is None:
        raise CaptureError(
            "bonus_from is given, and there is no bonus row",
            place=reading.rows.place(path or "top level"),
            expected='"bonus": the target row after the last draft token',
        )
    if len(found) > 1:
        raise CaptureError(
            "bonus_from is given more than once",
            place=reading.rows.place(path or "top level"),
            expected="one law for the bonus token of a step",
        )
    kept = tuple(
        replace(p, roles={r: e for r, e in p.roles.items() if r is not Role.BONUS_FROM})
        if _names_bonus(p)
        else p
        for p in positions
    )
    return kept, found[0] if found else None


def _names_bonus(position: Position) -> bool:
    return Role.BONUS_FROM in position.roles
