"""Checks on the numbers of dumped rows, made on their bit patterns (one or two integer passes).

A float's bits, read as an unsigned integer, rise with the magnitude, and the sign bit puts all
negative numbers above all positive ones. So with ``inf`` the pattern of +infinity,

    signed maximum   >= inf          some positive NaN or +inf
    unsigned maximum >  sign | inf   some negative NaN
    unsigned maximum == sign | inf   some -inf, and nothing worse
    unsigned maximum >  sign         some number below zero (-0.0 is the sign alone)

which two reductions decide for a whole block without converting a number.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from specdist.errors import RowError
from specdist.model.row import Kind, NumberFormat
from specdist.readers.axes import RowTable
from specdist.readers.json_numbers import logprob_slack

Array = NDArray[Any]

_INFINITY = {
    NumberFormat.FLOAT16: 0x7C00,
    NumberFormat.BFLOAT16: 0x7F80,
    NumberFormat.FLOAT32: 0x7F800000,
    NumberFormat.FLOAT64: 0x7FF0000000000000,
}
_STORED: dict[NumberFormat, np.dtype[Any]] = {
    NumberFormat.FLOAT16: np.dtype("f2"),
    NumberFormat.BFLOAT16: np.dtype("u2"),
    NumberFormat.FLOAT32: np.dtype("f4"),
    NumberFormat.FLOAT64: np.dtype("f8"),
}


def check_block(
    block: Array, numbers: NumberFormat, kind: Kind | None, table: RowTable, first: int
) -> bool:
    """Checks rows ``first``, ``first`` + 1, ... of a table; says whether any holds -inf.

    Raises RowError for NaN and +inf, and where the kind forbids them for -inf, negative
    probabilities and log-probabilities above 0.
    """
    infinity = _INFINITY[numbers]
    sign = 1 << (8 * block.itemsize - 1)
    unsigned = int(block.view(f"u{block.itemsize}").max())
    signed = int(block.view(f"i{block.itemsize}").max())
    lowest = sign if kind is Kind.PROBABILITIES else sign | infinity
    if signed >= infinity or unsigned > lowest:
        raise _bad_number(block, numbers, kind, table, first)
    if kind is Kind.LOGPROBS and signed > 0:
        _check_logprobs(block, numbers, table, first)
    return unsigned == sign | infinity


def widened(block: Array, numbers: NumberFormat) -> NDArray[np.float64]:
    """The values as float64, exactly. A signalling NaN becomes a quiet one, which is refused."""
    if numbers is NumberFormat.BFLOAT16:
        block = (block.astype(np.uint32) << 16).view(np.float32)
    with np.errstate(invalid="ignore"):
        return block.astype(np.float64)


def narrowed(
    block: Array, stored: NumberFormat, wanted: NumberFormat, table: RowTable, first: int
) -> Array:
    """The same values in a narrower format. Raises RowError where one does not fit exactly."""
    if stored is wanted:
        return block
    if wanted is NumberFormat.BFLOAT16:
        single = narrowed(block, stored, NumberFormat.FLOAT32, table, first)
        bits = single.view(np.uint32)
        fits = (bits & 0xFFFF) == 0
        result: Array = (bits >> 16).astype(np.uint16)
    else:
        with np.errstate(over="ignore", invalid="ignore"):
            result = block.astype(_STORED[wanted])
        back = result.astype(block.dtype)
        fits = (back == block) | np.isnan(block)
    if not fits.all():
        row, token = (int(i) for i in np.argwhere(~fits)[0])
        raise RowError(
            f"{_shown(block, stored, row, token)} is no {wanted.value} value",
            place=table.place_of(first + row, token),
            expected=f"values of {wanted.value}, as --numbers says",
        )
    return result


def _bad_number(
    block: Array, numbers: NumberFormat, kind: Kind | None, table: RowTable, first: int
) -> RowError:
    values = widened(block, numbers)
    bad = np.isnan(values) | (values == np.inf)
    if kind is Kind.PROBABILITIES:
        bad |= values < 0
    row, token = (int(i) for i in np.argwhere(bad)[0])
    value = float(values[row, token])
    place = table.place_of(first + row, token)
    if np.isnan(value):
        return RowError("NaN in a row", place=place, expected="finite numbers or -inf")
    if value == np.inf:
        hint = "a float16 overflows above 65504" if numbers is NumberFormat.FLOAT16 else ""
        return RowError(
            "+inf in a row", place=place, expected="finite numbers or -inf", advice=hint
        )
    return RowError(
        "-inf as a probability" if value == -np.inf else f"a negative probability, {value:.6g}",
        place=place,
        expected="values from 0 to 1",
        advice="pass --kind logits or --kind logprobs if that is what the rows hold",
    )


def _check_logprobs(block: Array, numbers: NumberFormat, table: RowTable, first: int) -> None:
    values = widened(block, numbers)
    slack = float(logprob_slack(numbers))
    if values.max() > slack:
        row, token = (int(i) for i in np.argwhere(values > slack)[0])
        raise RowError(
            f"a log-probability above 0, {values[row, token]:.6g}",
            place=table.place_of(first + row, token),
            expected=f"values up to 0 (rounding of {numbers.value} allows {slack:.3g})",
            advice="pass --kind logits if these are logits",
        )


def _shown(block: Array, stored: NumberFormat, row: int, token: int) -> str:
    return f"{float(widened(block[row : row + 1], stored)[0, token])!r}"
