"""Rows read from storages in bounded blocks; the memory used does not depend on the file.

Rows that lie one after the other are read together, up to ``BLOCK_BYTES``. Rows whose numbers
are strided (a transposed or Fortran-ordered array) are gathered in groups of ``GATHER_BYTES``
through windows of the file of ``WINDOW_BYTES``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from specdist.errors import CaptureError
from specdist.model.row import Kind, NumberFormat
from specdist.readers.axes import RowTable
from specdist.readers.row_doubts import Doubt, row_doubts
from specdist.readers.row_values import check_block, narrowed
from specdist.readers.storage import Handles, Storage

BLOCK_BYTES = 2 * 2**20
GATHER_BYTES = 32 * 2**20
WINDOW_BYTES = 4 * 2**20
LOAD_BYTES = 64 * 2**20
"""A compressed member whose rows do not follow one another is unpacked whole up to this size."""

Array = NDArray[Any]


@dataclass(frozen=True, slots=True)
class RowArray:
    """One row as stored; ``masked`` says that its block holds -inf somewhere; ``doubt`` whether a
    row of logits looks like memory that was never written."""

    row: int
    array: Array
    masked: bool
    doubt: Doubt = Doubt.NONE


@dataclass(frozen=True, slots=True)
class _InMemory:
    data: bytes
    sequential: bool = False

    @property
    def size(self) -> int:
        return len(self.data)

    def read(self, handles: Handles, start: int, count: int) -> bytes:
        return self.data[start : start + count]


def read_rows(
    table: RowTable,
    handles: Handles,
    numbers: NumberFormat,
    kind: Kind | None,
    rows: Sequence[int] | None = None,
) -> Iterator[RowArray]:
    """The rows in order (or only ``rows``), checked, in native byte order and in ``numbers``.

    Raises RowError for numbers that no row may hold, CaptureError when the file gives out.
    """
    wanted = range(table.count) if rows is None else rows
    stored = table.element.numbers
    if stored is None:
        raise CaptureError(f"{table.element.name} numbers are no row", place=table.place)
    table = _unpacked(table, handles)
    for first, count in _groups(table, wanted):
        block = _block(table, handles, [wanted[first + k] for k in range(count)])
        block = narrowed(block, stored, numbers, table, wanted[first])
        masked = check_block(block, numbers, kind, table, wanted[first])
        doubts = row_doubts(block, numbers) if kind in (None, Kind.LOGITS) else None
        for k in range(count):
            doubt = Doubt.NONE if doubts is None else Doubt(int(doubts[k]))
            yield RowArray(wanted[first + k], block[k], masked, doubt)


def _groups(table: RowTable, rows: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Start and length, within ``rows``, of the groups that are read together."""
    bytes_a_row = table.size * table.element.size
    first = 0
    while first < len(rows):
        storage, offset, stride = table.locate(rows[first])
        packed = stride == 1 or table.size == 1
        limit = max(1, (BLOCK_BYTES if packed else GATHER_BYTES) // bytes_a_row)
        count = 1
        while count < limit and first + count < len(rows):
            if rows[first + count] != rows[first] + count:
                break
            other, start, step = table.locate(rows[first + count])
            if other is not storage or step != stride:
                break
            if packed and start != offset + count * table.size:
                break
            if not packed and abs(start - offset) * table.element.size > WINDOW_BYTES:
                break
            count += 1
        yield first, count
        first += count


def _block(table: RowTable, handles: Handles, rows: list[int]) -> Array:
    storage, offset, stride = table.locate(rows[0])
    size, itemsize = table.size, table.element.size
    dtype = np.dtype(table.element.dtype)
    if stride == 1 or size == 1:
        data = storage.read(handles, offset * itemsize, len(rows) * size * itemsize)
        block: Array = np.frombuffer(data, dtype).reshape(len(rows), size)
    elif stride == 0:
        ones = [storage.read(handles, table.locate(row)[1] * itemsize, itemsize) for row in rows]
        column = np.frombuffer(b"".join(ones), dtype)
        block = np.repeat(column[:, None], size, axis=1)
    else:
        offsets = [table.locate(row)[1] for row in rows]
        block = _gather(storage, handles, offsets, stride, size, dtype)
    return block if dtype.isnative else block.astype(dtype.newbyteorder("="))


def _gather(
    storage: Storage,
    handles: Handles,
    offsets: list[int],
    stride: int,
    size: int,
    dtype: np.dtype[Any],
) -> Array:
    block = np.empty((len(offsets), size), dtype)
    low, span = min(offsets), max(offsets) - min(offsets) + 1
    at_once = max(1, (WINDOW_BYTES // dtype.itemsize - span) // stride + 1)
    for start in range(0, size, at_once):
        count = min(at_once, size - start)
        length = (count - 1) * stride + span
        begin = low + start * stride
        data = storage.read(handles, begin * dtype.itemsize, length * dtype.itemsize)
        window = np.frombuffer(data, dtype)
        for k, offset in enumerate(offsets):
            block[k, start : start + count] = window[offset - low :: stride][:count]
    return block


def _unpacked(table: RowTable, handles: Handles) -> RowTable:
    """The table with every compressed member that is not read forwards loaded, if small."""
    pieces = table.tensor.pieces
    if not any(piece.storage.sequential for piece in pieces) or _forwards(table):
        return table
    total = sum(piece.storage.size for piece in pieces)
    if total > LOAD_BYTES:
        raise CaptureError(
            f"{total // 2**20} compressed MB whose rows are not stored one after the other",
            place=table.place,
            expected="rows in C order, or an uncompressed file",
            advice="save it again with np.savez (not compressed)",
        )
    loaded = tuple(
        replace(p, storage=_InMemory(p.storage.read(handles, 0, p.storage.size))) for p in pieces
    )
    return table.with_tensor(replace(table.tensor, pieces=loaded))


def _forwards(table: RowTable) -> bool:
    shift = 1 if table.tensor.stacked else 0
    for piece in table.tensor.pieces:
        steps = [piece.strides[axis - shift] for axis in table.order if axis >= shift]
        used = [
            step
            for step, axis in zip(steps, [a for a in table.order if a >= shift], strict=True)
            if table.tensor.shape[axis] > 1
        ]
        if used != sorted(used, reverse=True) or piece.strides[table.vocab_axis - shift] != 1:
            return False
    return not shift or table.order[0] == 0
