"""Parquet tables of likely tokens. pyarrow, the extra ``parquet``, is imported when one is met."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from importlib import import_module
from math import inf
from typing import Any

from specdist.errors import CaptureError, MissingExtraError, NotACaptureError
from specdist.model.row import NumberFormat
from specdist.model.settings import ReadingSettings
from specdist.readers.engine_files.distillkit import (
    CONFIG,
    LEGACY,
    PACKED,
    Packing,
    packing_of,
    unpacked,
)
from specdist.readers.engine_files.engine_file import EngineFile
from specdist.readers.engine_files.logprob_numbers import SMALLEST_FLOAT32
from specdist.readers.engine_files.table_file import table_file
from specdist.readers.engine_files.table_model import (
    IDS,
    MASK,
    TEXT,
    VALUES,
    Table,
    TableRow,
    TableSequence,
    table_row,
)
from specdist.readers.naming import listing
from specdist.readers.sources import LocalFile

NAME = "parquet"
TITLE = "a parquet table of likely tokens"
PACKED_TITLE = "a packed parquet table of likely tokens (DistillKit)"
_BATCH = 16
"""Sequences that are in memory at a time."""

Build = Callable[[dict[str, Any], int, str], TableSequence]


def open_parquet(file: LocalFile, reading: ReadingSettings) -> EngineFile:
    """The rows of a parquet table.

    Raises MissingExtraError without pyarrow, NotACaptureError for columns that hold no lists of
    tokens, CaptureError for those that must be refused and for a damaged file.
    """
    opened = _opened(file)
    schema = _guarded(file, lambda: opened.schema_arrow)
    names = list(schema.names)
    _refuse(names, file)
    if set(PACKED) <= set(names):
        return table_file(_packed_table(file, schema), reading)
    ids = next((name for name in IDS if _depth(schema, name) == 2), "")
    values = next((name for name in VALUES if _depth(schema, name) == 2), "")
    if not ids or not values:
        raise NotACaptureError(
            f"no columns of this parquet file are lists of tokens: {listing(names)}",
            place=file.name,
            expected=f"{' or '.join(IDS)}, with {' or '.join(VALUES)}, one list a position",
        )
    return table_file(_plain_table(file, schema, ids, values), reading)


def _plain_table(file: LocalFile, schema: Any, ids: str, values: str) -> Table:
    element = str(_element(schema, values))
    if element not in ("halffloat", "float", "double"):
        raise CaptureError(
            f"{values} holds {element} numbers", place=file.name, expected="floating point values"
        )
    also = [name for name in (TEXT, MASK) if _depth(schema, name) == 1]

    def build(columns: dict[str, Any], number: int, place: str) -> TableSequence:
        rows = tuple(_rows(columns, ids, values, place))
        return TableSequence(number, rows, _text(columns, len(rows), place), place)

    return Table(
        source=file.name,
        reader=NAME,
        title=TITLE,
        sequences=lambda: _sequences(file, [ids, values, *also], build),
        columns=f"{ids}, {values}",
        kind=VALUES[values],
        ranked=values.startswith("top"),
        numbers=NumberFormat.FLOAT16 if element == "halffloat" else None,
    )


def _packed_table(file: LocalFile, schema: Any) -> Table:
    packing = packing_of(file.path, file.name)
    also = [TEXT] if _depth(schema, TEXT) == 1 else []

    def build(columns: dict[str, Any], number: int, place: str) -> TableSequence:
        rows = tuple(_unpacked_rows(columns, packing, place))
        return TableSequence(number, rows, _text(columns, len(rows), place), place)

    return Table(
        source=file.name,
        reader=NAME,
        title=PACKED_TITLE,
        sequences=lambda: _sequences(file, [*PACKED, *also], build),
        columns=", ".join(PACKED),
        kind=VALUES["topk_logprobs"],
        ranked=True,
        numbers=packing.numbers,
        shift=1,
        vocab_size=packing.vocab_size,
        about=(("packing", f"{packing.exact} of {packing.listed} values exact ({CONFIG})"),),
        warnings=(
            f"only the first {packing.exact} values of a position are exact; the others are a fit "
            "without an error bound and are not read",
        )
        if packing.exact < packing.listed
        else (),
    )


def _refuse(names: Sequence[str], file: LocalFile) -> None:
    """Raises CaptureError for columns that are known and hold no law of a model."""
    if set(LEGACY) <= set(names):
        raise CaptureError(
            "this table is of DistillKit's first packing, which holds logits less their mean, "
            "mostly as a fit without an error bound",
            place=file.name,
            expected="log-probabilities",
            advice="write it again with compressed_logprobs, or as plain top-k lists",
        )
    hidden = [name for name in names if "hidden_state" in name]
    if hidden:
        raise CaptureError(
            f"the column {hidden[0]} holds hidden states, and no distribution of a token",
            place=file.name,
            expected="lists of tokens with log-probabilities",
        )


def _opened(file: LocalFile) -> Any:
    try:
        parquet = import_module("pyarrow.parquet")
    except ImportError:
        raise MissingExtraError(
            "pyarrow is not installed, and this is a parquet file",
            place=file.name,
            expected="the optional library of the extra 'parquet'",
            advice="pip install 'specdist-verifier[parquet]'",
        ) from None
    return _guarded(file, lambda: parquet.ParquetFile(file.path))


def _guarded(file: LocalFile, action: Callable[[], Any]) -> Any:
    """Runs an action of pyarrow. Raises CaptureError where the file is damaged."""
    arrow = import_module("pyarrow")
    try:
        return action()
    except (arrow.ArrowException, OSError, ValueError) as error:
        first = str(error).partition("\n")[0][:60]
        raise CaptureError(
            f"the parquet file is damaged: {first}", place=file.name, expected="a whole file"
        ) from None


def _sequences(file: LocalFile, columns: list[str], build: Build) -> Iterator[TableSequence]:
    batches = _opened(file).iter_batches(batch_size=_BATCH, columns=columns)
    number = 0
    while (batch := _guarded(file, lambda: next(batches, None))) is not None:
        for row in range(batch.num_rows):
            found = {name: batch.column(name)[row] for name in columns}
            yield build(found, number, f"{file.name}, row {number}")
            number += 1


def _depth(schema: Any, name: str) -> int:
    """How many lists are around each other in a column; -1 where there is no such column."""
    index = schema.get_field_index(name)
    depth, kind = 0, schema.field(index).type if index >= 0 else None
    while kind is not None and "list" in str(kind).partition("<")[0]:
        depth, kind = depth + 1, kind.value_type
    return depth if index >= 0 else -1


def _element(schema: Any, name: str) -> Any:
    kind = schema.field(name).type
    while "list" in str(kind).partition("<")[0]:
        kind = kind.value_type
    return kind


def _rows(columns: dict[str, Any], ids: str, values: str, place: str) -> Iterator[TableRow]:
    first, second = _lists(columns[ids]), _lists(columns[values])
    if len(first) != len(second):
        raise CaptureError(
            f"{len(first)} lists of {ids}, {len(second)} of {values}",
            place=place,
            expected="as many in both",
        )
    mask = columns[MASK].as_py() if MASK in columns else None
    for i, (own, row) in enumerate(zip(first, second, strict=True)):
        at = f"{place}, {values}[{i}]"
        if mask is not None and i < len(mask) and not mask[i]:
            yield TableRow((), at, f"{MASK} is 0 here")
        elif own is None or row is None or None in own or None in row:
            yield TableRow((), at, "null stands here")
        elif len(own) != len(row):
            raise CaptureError(
                f"{len(own)} ids and {len(row)} values", place=at, expected="a value for every id"
            )
        else:
            known = (-inf if x == SMALLEST_FLOAT32 else float(x) for x in row)
            yield table_row(own, known, at)


def _lists(scalar: Any) -> list[Any]:
    found = scalar.as_py()
    return [] if found is None else found


def _text(columns: dict[str, Any], rows: int, place: str) -> tuple[int, ...] | None:
    found = columns[TEXT].as_py() if TEXT in columns else None
    if found is None:
        return None
    if rows not in (len(found), len(found) - 1):
        raise CaptureError(
            f"{len(found)} ids beside {rows} rows",
            place=f"{place}, {TEXT}",
            expected="a row for every token, or for all but one",
        )
    return tuple(found)


def _unpacked_rows(columns: dict[str, Any], packing: Packing, place: str) -> Iterator[TableRow]:
    values, ids = (_lists(columns[name]) for name in PACKED)
    if len(values) != len(ids):
        raise CaptureError(
            f"{len(values)} positions of values, {len(ids)} of ids",
            place=place,
            expected="as many in both",
        )
    for i, (row, own) in enumerate(zip(values, ids, strict=True)):
        at = f"{place}, {PACKED[0]}[{i}]"
        if row is None or own is None:
            yield TableRow((), at, "null stands here")
        else:
            yield unpacked(row, own, packing, at)
