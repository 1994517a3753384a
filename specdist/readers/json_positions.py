"""One drafted position of a JSON capture: two rows, the drafted token, overridden roles."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, Literal

from specdist.errors import CaptureError
from specdist.model.capture import Position, Vocab
from specdist.model.finding import Finding
from specdist.model.options import ProcessingOptions
from specdist.model.role import Role
from specdist.model.row import PointMass, Row, Stage
from specdist.readers.json_listed import read_any_row
from specdist.readers.json_rows import (
    RowReading,
    is_row,
    one_hot_token,
    point_mass,
    size_of,
    token_id,
)
from specdist.readers.json_settings import object_at, role_of, text_of, unknown_key
from specdist.readers.json_token_rows import (
    TOKEN_KEYS,
    check_draft_map,
    read_given,
    read_keep_row,
    read_map_of,
)
from specdist.readers.naming import shorten
from specdist.readers.strict_json import join

VOCABULARY_LIMIT = 2**19
"""Tokens of a JSON capture: maps and one-hot rows make rows of any size out of a few bytes. The
largest vocabularies of 2026 have about 2**18."""

POSITION_KEYS = ("target", "draft", "draft_token", "roles", *TOKEN_KEYS)


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
    draft_rows: RowReading | None = None
    draft_vocab: Vocab | None = None
    draft_map: tuple[int, ...] | None = None
    """What a draft with ids of its own has beside the target's."""

    @property
    def of_draft(self) -> RowReading:
        """How draft rows are read: with the draft's own token texts where there are some."""
        return self.draft_rows or self.rows


def read_position(
    value: Any, path: str, index: int, reading: StepReading, drafted: Any
) -> Position:
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
    target = read_any_row(item["target"], join(path, "target"), size, rows)
    draft_map = read_map_of(item, path, rows.file) or reading.draft_map
    draft = _draft(item, token, path, size, draft_map, reading)
    if draft_map is not None:
        check_draft_map(draft_map, _own_size(draft), size, rows.place(join(path, "draft_map")))
    return Position(
        index,
        target,
        draft,
        token,
        _roles(roles, path, size, rows),
        read_keep_row(item, path, size, rows),
        read_given(item, path, size, rows),
        draft_map,
    )


def _draft(
    item: dict[str, Any],
    token: int | None,
    path: str,
    size: int,
    draft_map: tuple[int, ...] | None,
    reading: StepReading,
) -> Row:
    """The draft row, or the point mass at the drafted token where there is none."""
    if "draft" in item:
        return _draft_row(item["draft"], join(path, "draft"), size, draft_map, reading)
    if token is not None:
        return point_mass(token, join(path, "draft_token"), size, reading.rows)
    raise CaptureError(
        "there is no draft row",
        place=reading.rows.place(path or "top level"),
        expected="a draft row, or the drafted token in draft_tokens (a one-hot draft)",
    )


def _draft_row(
    value: Any, path: str, size: int, draft_map: tuple[int, ...] | None, reading: StepReading
) -> Row:
    """A draft row over the draft's own ids; ``{"one_hot": ID}`` is a target id. Its size is that
    of its texts or its array; of a map it is the size that the draft map or the target has."""
    if one_hot_token(value) is not None:
        return read_any_row(value, path, size, reading.rows)
    if reading.draft_vocab is not None:
        own: int | None = len(reading.draft_vocab.texts)
    else:
        own = size_of(value) or (None if draft_map is None else len(draft_map))
    return read_any_row(value, path, own or size, reading.of_draft)


def _own_size(draft: Row) -> int | None:
    return None if isinstance(draft.values, PointMass) else draft.size


def _half(
    item: dict[str, Any], path: str, index: int, reading: StepReading, drafted: Any
) -> Position:
    """A position of which one side counts; the other is filled with the same row."""
    side = reading.only or "target"
    rows = reading.rows if side == "target" else reading.of_draft
    size = _size({"target": item[side]}, {}, path, reading)
    row = read_any_row(item[side], join(path, side), size, rows)
    token = _draft_token(item, path, size, rows, drafted)
    roles = object_at(item.get("roles", {}), join(path, "roles"), rows.file)
    return Position(
        index,
        row,
        row,
        token,
        _roles(roles, path, size, rows),
        read_keep_row(item, path, size, rows),
        read_given(item, path, size, rows),
        read_map_of(item, path, rows.file) or reading.draft_map,
    )


def _size(item: dict[str, Any], roles: dict[str, Any], path: str, reading: StepReading) -> int:
    others = [size_of(row) for row in roles.values()]
    sizes = [reading.size, size_of(item["target"]), *others]
    if reading.draft_vocab is None and not (reading.draft_map or item.get("draft_map")):
        sizes.insert(2, size_of(item.get("draft")))
    size = next((size for size in sizes if size is not None), None)
    if size is None:
        raise CaptureError(
            "the size of the vocabulary is unknown",
            place=reading.rows.place(path or "top level"),
            expected='"vocab" or "vocab_size" beside rows that are maps',
            advice="or pass --vocab-size",
        )
    if size > VOCABULARY_LIMIT:
        raise CaptureError(
            f"a vocabulary of {shorten(str(size), 24)} tokens",
            place=reading.rows.place(path or "top level"),
            expected=f"at most {VOCABULARY_LIMIT} tokens in a JSON capture",
            advice="save larger rows as safetensors or .npy",
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
            result[role] = read_any_row(value, join(where, key), size, final)
        else:
            result[role] = text_of(value, join(where, key), rows.file)
    return result


def check_same_size(positions: tuple[Position, ...], places: list[str], file: str) -> None:
    size = positions[0].target.size
    for position, place in zip(positions, places, strict=True):
        if position.target.size != size:
            raise CaptureError(
                f"{position.target.size} tokens here, {size} at position 0",
                place=f"{file}, {place}",
                expected="one vocabulary for the whole step",
            )
