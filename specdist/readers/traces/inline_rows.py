"""Rows that stand in the line of their step: small vocabularies, written by hand or by a test.

``target`` holds one more row than ``draft``, the bonus row last; each is an array or a map of
numbers as in a JSON capture, so that 1/3 can be written as it is.
"""

from __future__ import annotations

from typing import Any

from specdist.errors import CaptureError
from specdist.model.row import Kind, NumberFormat, Row, Stage
from specdist.model.settings import ReadingSettings
from specdist.readers.json_rows import RowReading, read_row, size_of

ROWS = ("target", "draft")
Rows = tuple[tuple[Row, ...], tuple[Row, ...]]


def has_rows(value: object) -> bool:
    """Whether a line holds rows itself."""
    return isinstance(value, dict) and any(value.get(name) is not None for name in ROWS)


def inline_rows(
    value: dict[str, Any], place: str, size: int | None, reading: ReadingSettings
) -> Rows:
    """The rows of a line; none where it holds none. Raises CaptureError or RowError."""
    if not has_rows(value):
        return (), ()
    found: dict[str, tuple[Row, ...]] = {}
    rows = RowReading(
        place,
        reading.kind or Kind.PROBABILITIES,
        reading.stage or Stage.RAW,
        NumberFormat.DECIMAL,
        {},
    )
    for name in ROWS:
        items = value.get(name)
        if not isinstance(items, list):
            raise CaptureError(
                f"{name} is no list of rows",
                place=place,
                expected="target and draft, a list of rows each",
            )
        for item in items:
            size = size or size_of(item)
        if size is None and items:
            raise CaptureError(
                "rows that are maps fix no vocabulary size",
                place=place,
                expected="--vocab-size N, or rows that are arrays",
            )
        found[name] = tuple(
            read_row(item, f"{name}[{index}]", size or 0, rows) for index, item in enumerate(items)
        )
    return found["target"], found["draft"]


def check_rows(
    rows: Rows, drafted: int, proposed: int, tokens: tuple[int, ...], place: str
) -> None:
    """One target row a drafted token and the bonus row, one draft row a drafted (or proposed)
    token, every token inside them. Raises CaptureError."""
    target, draft = rows
    if not target and not draft:
        return
    if len(target) != drafted + 1 or len(draft) not in (drafted, proposed):
        raise CaptureError(
            f"{len(target)} target rows and {len(draft)} draft rows for {drafted} drafted tokens",
            place=place,
            expected=f"{drafted + 1} target rows, the bonus row last, and {drafted} draft rows",
        )
    for token in tokens:
        if token >= target[0].size:
            raise CaptureError(
                f"token {token} is outside the rows",
                place=place,
                expected=f"token ids from 0 to {target[0].size - 1}",
            )
