"""Tables of rows by prefix in a JSON capture.

A table is a row, which holds after every prefix, or ``{"rows": {"": ROW, "0,1": ROW}, "after":
{"0": ROW}, "default": ROW}``: rows by prefix, by the last token of a prefix, and for the rest.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from specdist.errors import CaptureError
from specdist.model.conditional import ConditionalRows, Prefix
from specdist.model.row import Row
from specdist.readers.json_rows import (
    RowReading,
    one_hot_token,
    read_row,
    size_of,
    token_id,
    token_of_key,
)
from specdist.readers.json_settings import object_at, unknown_key
from specdist.readers.naming import shorten
from specdist.readers.strict_json import join

_TABLE_KEYS = ("rows", "after", "default")
_PREFIX = re.compile(r"((0|[1-9]\d*)(,(0|[1-9]\d*))*)?", re.ASCII)


@dataclass(frozen=True, slots=True)
class Tables:
    """How the tables of one step are read."""

    path: str
    size: int
    rows: RowReading


def row_count(value: Any, rows: RowReading) -> int:
    """How many rows a model has as it is written, those of all its tables."""
    if is_list_of_tables(value):
        return sum(row_count(item, rows) for item in value)
    if not _is_table(value, rows):
        return 1
    named = [value.get(name) for name in ("rows", "after")]
    return 1 + sum(len(table) for table in named if isinstance(table, dict))


def array_sizes(value: Any, rows: RowReading) -> Iterator[int]:
    if is_list_of_tables(value):
        for item in value:
            yield from array_sizes(item, rows)
    elif _is_table(value, rows):
        tables = [value.get("rows"), value.get("after"), {"default": value.get("default")}]
        for table in tables:
            for item in table.values() if isinstance(table, dict) else ():
                yield from filter(None, [size_of(item)])
    else:
        yield from filter(None, [size_of(value)])


def is_list_of_tables(value: Any) -> bool:
    return isinstance(value, list) and any(isinstance(item, list | dict) for item in value)


def _is_table(value: Any, rows: RowReading) -> bool:
    """A table of rows, and not a map token -> number, of whose keys one may be such a text."""
    if not isinstance(value, dict) or one_hot_token(value) is not None:
        return False
    named = all(key in _TABLE_KEYS and key not in rows.texts for key in value)
    return named or any(isinstance(item, list | dict) for item in value.values())


def read_table(value: Any, path: str, tables: Tables) -> ConditionalRows:
    """One model by prefix; a row alone holds after every prefix."""
    place = tables.rows.place(path)
    if not _is_table(value, tables.rows):
        return ConditionalRows(place, default=read_row(value, path, tables.size, tables.rows))
    for key in value:
        if key not in _TABLE_KEYS:
            raise unknown_key(key, path, tables.rows.file, _TABLE_KEYS)
    by_prefix, after = _members(value, "rows", path, tables), _members(value, "after", path, tables)
    if not by_prefix and not after and "default" not in value:
        raise CaptureError(
            "a table without any row",
            place=place,
            expected='"rows" by prefix, "after" by last token, or a "default" row',
        )
    rows: dict[Prefix, Row] = {}
    for key, row, where in by_prefix:
        rows[prefix_of_key(key, where, tables)] = row
    last: dict[int, Row] = {}
    for key, row, where in after:
        token = token_of_key(key, where, tables.size, tables.rows)
        if token in last:
            raise CaptureError(
                f"token {token} occurs twice, by id and by text", place=tables.rows.place(where)
            )
        last[token] = row
    default = None
    if "default" in value:
        where = join(path, "default")
        default = read_row(value["default"], where, tables.size, tables.rows)
    return ConditionalRows(place, rows, last, default)


def _members(
    table: dict[str, Any], name: str, path: str, tables: Tables
) -> list[tuple[str, Row, str]]:
    """Key, row and path of each member of ``rows`` or ``after``."""
    where = join(path, name)
    found = []
    for key, item in object_at(table.get(name, {}), where, tables.rows.file).items():
        place = f'{where}["{shorten(key, 24)}"]'
        found.append((key, read_row(item, place, tables.size, tables.rows), place))
    return found


def prefix_of_key(key: str, path: str, tables: Tables) -> Prefix:
    """The token ids that a key such as ``"0,2"`` writes. Raises CaptureError at ``path``."""
    if not _PREFIX.fullmatch(key):
        raise CaptureError(
            f"{shorten(key, 24)!r} is no prefix",
            place=tables.rows.place(path),
            expected='token ids joined by commas, such as "0,2"; "" is the start of the step',
        )
    parts = [part for part in key.split(",") if part]
    if any(len(part) > 12 for part in parts):
        raise CaptureError(
            f"{shorten(key, 24)!r} holds a number that is no token id",
            place=tables.rows.place(path),
            expected=f"token ids from 0 to {tables.size - 1}",
        )
    return tuple(token_id(int(part), path, tables.size, tables.rows) for part in parts)
