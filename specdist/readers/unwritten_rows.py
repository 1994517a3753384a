"""The complaint about rows that nobody computed, with the number of rows before them."""

from __future__ import annotations

from specdist.errors import CaptureError
from specdist.model.row import NumberFormat
from specdist.readers.axes import RowTable
from specdist.readers.row_blocks import read_rows
from specdist.readers.row_doubts import Doubt
from specdist.readers.storage import Handles

SCAN_NUMBERS = 1 << 28
"""Numbers that are read to find the first such row."""


def unwritten(table: RowTable, row: int, doubt: Doubt, first: bool = True) -> CaptureError:
    """The error for one row. ``first``: no row before it is doubtful."""
    what = "zeros only" if doubt is Doubt.ZERO else "numbers that no logits are"
    single = len(table.lengths) == 1
    return CaptureError(
        f"a row of {what}: memory that was saved without being written",
        place=table.place_of(row),
        expected="rows that a model computed; llama-cpp-python's scores hold n_ctx rows, of "
        "which n_tokens are computed",
        advice=f"pass --rows {row} if the first {row} were computed, --rows {table.count} if all "
        "were"
        if single and first and row
        else "say with --rows how many rows of each sequence were computed",
    )


def first_unwritten(table: RowTable, numbers: NumberFormat, known: int) -> CaptureError:
    """The error for the first doubtful row, given one that is: the rows before it are read, as
    far as that is quick."""
    if (known + 1) * table.size > SCAN_NUMBERS:
        return unwritten(table, known, Doubt.GARBAGE, first=False)
    real = False
    zero: int | None = None
    with Handles() as handles:
        for found in read_rows(table, handles, numbers, None, range(known + 1)):
            if found.doubt is Doubt.GARBAGE:
                first = found.row if zero is None else zero
                return unwritten(table, first, Doubt.GARBAGE)
            if found.doubt is Doubt.ZERO and zero is None:
                zero = found.row
            real = real or not found.doubt
    return unwritten(table, known if zero is None else zero, Doubt.ZERO, first=real)
