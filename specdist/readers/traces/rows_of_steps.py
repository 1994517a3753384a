"""Recorded steps joined with their rows, read in bounded blocks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import accumulate

import numpy as np

from specdist.errors import CaptureError, RowError
from specdist.model.row import FloatValues, ListedValues, NumberFormat, Row
from specdist.model.trace import TraceStep
from specdist.readers.row_blocks import read_rows
from specdist.readers.row_values import widened
from specdist.readers.sides import Side
from specdist.readers.storage import Handles
from specdist.readers.traces.arrays import TraceRows
from specdist.readers.traces.steps import ReadStep

_BITS = {
    NumberFormat.BFLOAT16: (8, -126),
    NumberFormat.FLOAT16: (11, -14),
    NumberFormat.FLOAT32: (24, -126),
    NumberFormat.FLOAT64: (53, -1022),
}
"""Significant bits and the exponent of the smallest normal number."""


def numbered(steps: Iterable[ReadStep], rows: TraceRows) -> Iterator[ReadStep]:
    """The steps with their row numbers, each inside its array. Raises CaptureError with the line.

    Rows that lie step by step are counted; then every line and every length must meet another.
    """
    starts = None
    if rows.lengths is not None:
        starts = [0, *accumulate(rows.lengths)]
    count = 0
    for ordinal, read in enumerate(steps):
        count = ordinal + 1
        if starts is not None and read.target_rows is None:
            read = _counted(read, ordinal, rows, starts)
        _check(read, ordinal, rows)
        yield read
    if rows.lengths is not None and count != len(rows.lengths):
        raise CaptureError(
            f"{len(rows.lengths)} steps have rows, {count} are recorded",
            place=rows.name,
            expected="rows of the recorded steps",
        )


def _counted(read: ReadStep, ordinal: int, rows: TraceRows, starts: Sequence[int]) -> ReadStep:
    place = read.step.source
    lengths = rows.lengths or ()
    if ordinal >= len(lengths) or lengths[ordinal] != len(read.step.drafted):
        have = lengths[ordinal] if ordinal < len(lengths) else "no"
        raise CaptureError(
            f"{len(read.step.drafted)} tokens are drafted, {rows.name} has {have} rows for them",
            place=place,
            expected="a draft row for each drafted token",
        )
    first = starts[ordinal]
    draft = tuple(range(first, first + lengths[ordinal]))
    target = tuple(range(first + ordinal, first + ordinal + lengths[ordinal] + 1))
    return replace(read, draft_rows=draft, target_rows=target)


def _check(read: ReadStep, ordinal: int, rows: TraceRows) -> None:
    place = read.step.source
    for name, numbers, side in (
        ("target_rows", read.target_rows, rows.target),
        ("draft_rows", read.draft_rows, rows.draft),
    ):
        if numbers is None:
            raise CaptureError(
                f"the field {name} is missing, and {rows.name} holds rows",
                place=place,
                expected="the number of the row of each position",
            )
        beyond = [number for number in numbers if number >= side.table.count]
        if beyond:
            raise CaptureError(
                f"{name} holds row {beyond[0]}, the array has {side.table.count}",
                place=place,
                expected=f"row numbers from 0 to {side.table.count - 1}",
            )
    tokens = [*read.step.drafted, *read.step.emitted, *(read.step.proposed or ())]
    outside = [token for token in tokens if token >= rows.size]
    if outside:
        raise CaptureError(
            f"token {outside[0]} is outside the rows",
            place=place,
            expected=f"token ids from 0 to {rows.size - 1}",
        )
    if rows.noise is not None and ordinal >= rows.noise.table.count:
        raise CaptureError(
            f"step {ordinal} has no row of final_noise, which has {rows.noise.table.count}",
            place=place,
            expected="a row of noise a step",
        )


def with_rows(steps: Iterable[ReadStep], rows: TraceRows) -> Iterator[TraceStep]:
    """The steps with their rows. Raises CaptureError and RowError."""
    with Handles() as handles:
        for ordinal, read in enumerate(numbered(steps, rows)):
            noise = None
            if rows.noise is not None:
                (found,) = read_rows(rows.noise.table, handles, rows.noise.numbers, None, [ordinal])
                _check_noise(found.array, rows, read)
                noise = FloatValues(found.array)
            yield replace(
                read.step,
                target_rows=_rows(rows.target, handles, read.target_rows or (), rows.lossy),
                draft_rows=_rows(rows.draft, handles, read.draft_rows or (), rows.lossy),
                final_noise=noise,
            )


def _check_noise(array: np.ndarray, rows: TraceRows, read: ReadStep) -> None:
    if len(array) != rows.size or not (array > 0).all():
        raise RowError(
            "noise of a race that is not positive, or not one number a token",
            place=f"{rows.name}, final_noise, for {read.step.source}",
            expected="exponential numbers above 0",
        )


def _rows(side: Side, handles: Handles, numbers: Sequence[int], lossy: bool) -> tuple[Row, ...]:
    found = read_rows(side.table, handles, side.numbers, side.kind, numbers)
    return tuple(
        Row(
            _rounded(one.array, side.numbers) if lossy else FloatValues(one.array),
            side.kind,
            side.stage,
            side.numbers,
            side.table.place_of(one.row),
        )
        for one in found
    )


def _rounded(array: np.ndarray, numbers: NumberFormat) -> ListedValues:
    """A row of which every value stands for all within half a unit in the last place of the
    largest one. A token at -inf is impossible."""
    values = widened(array[None, :], numbers)[0]
    ids = np.flatnonzero(np.isfinite(values))
    largest = float(np.abs(values[ids]).max(initial=0.0))
    precision, smallest = _BITS[numbers]
    exponent = max(int(np.frexp(largest)[1]) - 1, smallest) if largest else smallest
    half = Fraction(2) ** (exponent - precision)
    return ListedValues(
        ids=ids,
        values=FloatValues(values[ids]),
        size=len(values),
        half_width=half,
        support=tuple(ids.tolist()) if len(ids) < len(values) else None,
    )
