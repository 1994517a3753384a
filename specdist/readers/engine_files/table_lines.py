"""Tables of likely tokens in JSON lines, a record a line, or in one JSON document."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from specdist.errors import CaptureError
from specdist.model.settings import ReadingSettings
from specdist.readers.engine_files.answers import id_of
from specdist.readers.engine_files.engine_file import AnswerFormat, EngineFile, LinesFormat
from specdist.readers.engine_files.json_node import Node, same_length
from specdist.readers.engine_files.logprob_numbers import Absent, LogprobNumbers
from specdist.readers.engine_files.table_file import table_file
from specdist.readers.engine_files.table_layouts import Form, Layout, layout_of
from specdist.readers.engine_files.table_model import (
    MASK,
    TEXT,
    VALUES,
    Table,
    TableRow,
    TableSequence,
    table_row,
)

NAME = "top-k-table"
TITLE = "a table of likely tokens"
Lines = Callable[[], Iterator[tuple[int, Any]]]

MASKED = f"{MASK} is 0 here"


def recognises(value: Any) -> bool:
    """Whether a line is a record of such a table."""
    return layout_of(value) is not None


def read_lines(lines: Lines, name: str, reading: ReadingSettings) -> EngineFile:
    """The rows of a table with a record a line. Raises CaptureError and RowError."""
    first = next((value for _, value in lines()), None)
    layout = layout_of(first)
    if layout is None:
        raise CaptureError("the first line is no record of a table", place=f"{name}, line 1")

    def records() -> Iterator[Node]:
        return (Node(value, f"{name}, line {number}") for number, value in lines())

    return table_file(_table(records, name, layout, first), reading)


def _is_document(value: Any) -> bool:
    return recognises(value) or (
        isinstance(value, list) and isinstance(value[0] if value else None, dict)
        and recognises(value[0])
    )  # fmt: skip


def read_document(value: Any, name: str, reading: ReadingSettings) -> EngineFile:
    """The rows of a table that is one document: a record, or a list of them."""
    root = Node(value, name)
    many = isinstance(value, list) and layout_of(value) is None
    first = (value[0] if value else None) if many else value
    layout = layout_of(first)
    if layout is None:
        raise root.error("this is no record of a table")
    nodes = root.items() if many else [root]
    return table_file(_table(lambda: iter(nodes), name, layout, first), reading)


LINES = (LinesFormat(NAME, TITLE, recognises, read_lines),)
ANSWERS = (AnswerFormat(NAME, TITLE, _is_document, read_document),)


def _table(records: Callable[[], Iterator[Node]], name: str, layout: Layout, first: Any) -> Table:
    has_text = isinstance(first, dict) and isinstance(first.get(TEXT), list)
    columns = f"{layout.ids}, {layout.values}" if layout.ids else layout.values or "the record"
    entries = layout.form is Form.ENTRIES
    return Table(
        source=name,
        reader=NAME,
        title=TITLE,
        sequences=lambda: _sequences(records(), layout),
        columns=columns,
        kind=VALUES.get(layout.values),
        ranked=layout.values.startswith("top") or entries,
        first_is_own=entries,
        places=layout.form is not Form.LISTS and not (has_text and layout.form is not Form.MAP),
    )


def _sequences(records: Iterator[Node], layout: Layout) -> Iterator[TableSequence]:
    number, last = 0, -1
    for at, record in enumerate(records):
        if layout.form is Form.MAP:
            row = _placed(record, layout, at)
            number += row.index is not None and row.index <= last
            last = -1 if row.index is None else row.index
            yield TableSequence(number, (row,), None, record.place)
            continue
        text = record.optional(TEXT) if isinstance(record.value, dict) else None
        rows = tuple(_rows(record, layout, text is None))
        yield TableSequence(
            at, rows, None if text is None else _text(text, len(rows)), record.place
        )


def _text(node: Node, rows: int) -> tuple[int, ...]:
    text = node.token_ids()
    if rows not in (len(text), len(text) - 1):
        raise node.error(
            f"{len(text)} ids beside {rows} rows", "a row for every token, or for all but one"
        )
    return text


def _rows(record: Node, layout: Layout, placed: bool) -> Iterator[TableRow]:
    numbers = LogprobNumbers(floor_is_zero=True)
    if layout.form is Form.LISTS:
        yield from _lists(record, layout, numbers)
        return
    for i, node in enumerate(_member(record, layout.values).items()):
        index = i if placed else None
        if node.value is None:
            if i or not placed:
                yield TableRow((), node.place, "null stands here", index)
        elif layout.form is Form.MAPS:
            yield _from_map(node, numbers, index, None)
        else:
            pairs = [
                (id_of(item.member("token").text(), item), numbers.read(item.member("logprob")))
                for item in node.items()
            ]
            yield _row(pairs, node, index)


def _member(record: Node, name: str) -> Node:
    return record.member(name) if name else record


def _lists(record: Node, layout: Layout, numbers: LogprobNumbers) -> Iterator[TableRow]:
    ids, values = record.member(layout.ids), record.member(layout.values)
    same_length(ids, values)
    mask = record.optional(MASK)
    kept = None if mask is None else [item.value for item in mask.items()]
    for i, (own, row) in enumerate(zip(ids.items(), values.items(), strict=True)):
        if own.value is None or row.value is None:
            yield TableRow((), row.place, "null stands here")
            continue
        if kept is not None and i < len(kept) and not kept[i]:
            yield TableRow((), row.place, MASKED)
            continue
        same_length(own, row)
        found = [numbers.read(item) for item in row.items()]
        yield _row(list(zip(own.token_ids(), found, strict=True)), row)


def _placed(record: Node, layout: Layout, at: int) -> TableRow:
    """A record that is one row: its place and token stand beside the map."""
    numbers = LogprobNumbers(floor_is_zero=True)
    if not layout.values:
        return _from_map(record, numbers, at, None)
    index, token = record.optional("position"), record.optional("token_id")
    return _from_map(
        record.member(layout.values),
        numbers,
        at if index is None else index.token_id(),
        None if token is None else token.token_id(),
    )


def _from_map(
    node: Node, numbers: LogprobNumbers, index: int | None, token: int | None
) -> TableRow:
    pairs: list[tuple[int, float | Absent]] = []
    for key, item in node.members():
        if not (key.isascii() and key.isdecimal()):
            raise node.error(f"the key {key[:40]!r} among ids of tokens", "whole numbers from 0")
        pairs.append((int(key), numbers.read(item)))
    return _row(pairs, node, index, token)


def _row(
    pairs: list[tuple[int, float | Absent]],
    node: Node,
    index: int | None = None,
    token: int | None = None,
) -> TableRow:
    if any(isinstance(value, Absent) for _, value in pairs):
        refused = "null stands for a value, as JSON writes a NaN"
        return TableRow((), node.place, refused, index, token)
    known = [(x, value) for x, value in pairs if not isinstance(value, Absent)]
    ids, values = zip(*known, strict=True) if known else ((), ())
    return table_row(ids, values, node.place, index=index, token=token)
