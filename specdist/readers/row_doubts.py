"""Rows of logits that nobody computed: memory that was saved without being written.

Arrays that are made for a whole context and filled as far as the text goes end in such rows
(llama-cpp-python's ``scores``: n_ctx rows, of which n_tokens are computed). Depending on what the
memory held before, they are zeros, or pointers, counters and texts read as floats:

    zero     every magnitude is below 2^-64;
    garbage  a number above 2^20, or more than 1/16 of the numbers subnormal.

No model has such logits. Large negative numbers are left alone, for they stand for minus infinity.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import IntEnum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from specdist.model.row import NumberFormat

LARGE = 2.0**20
SUBNORMAL_SHARE = 16
LEAST_SUBNORMAL = 4
"""Fewer subnormal numbers than this prove nothing."""


class Doubt(IntEnum):
    """What a row of logits looks like."""

    NONE = 0
    ZERO = 1
    GARBAGE = 2


# Bit patterns of 2^20, of 2^-64 (float16: of its smallest number) and of the smallest normal one.
_PATTERNS = {
    NumberFormat.FLOAT16: (0x7C00, 1, 0),
    NumberFormat.BFLOAT16: (0x4980, 0x1F80, 0x0080),
    NumberFormat.FLOAT32: (0x49800000, 0x1F800000, 0x00800000),
    NumberFormat.FLOAT64: (0x4130000000000000, 0x3BF0000000000000, 0x0010000000000000),
}


def row_doubts(block: NDArray[Any], numbers: NumberFormat) -> NDArray[np.int8]:
    """The doubt of every row of ``block`` [k, V], as stored in native byte order; no NaN."""
    large, tiny, normal = _PATTERNS[numbers]
    signed = block.view(f"i{block.itemsize}")
    sign = 1 << (8 * block.itemsize - 1)
    top = signed.max(axis=1)  # of the numbers from 0 on, whose patterns rise with them
    doubts = np.zeros(len(block), np.int8)
    doubts[top > large] = Doubt.GARBAGE
    magnitudes = block.view(f"u{block.itemsize}") & (sign - 1)
    if normal:
        # Unsigned, 0 - 1 is the largest number: zeros do not count.
        subnormal = np.count_nonzero(magnitudes - 1 < normal - 1, axis=1)
        least = max(LEAST_SUBNORMAL, block.shape[1] // SUBNORMAL_SHARE + 1)
        doubts[subnormal >= least] = Doubt.GARBAGE
    for row in np.flatnonzero((top < tiny) & (doubts == Doubt.NONE)):
        if magnitudes[row].max() < tiny:
            doubts[row] = Doubt.ZERO
    return doubts


def first_doubtful(doubts: Mapping[int, Doubt]) -> int | None:
    """The first row of a sample that nobody computed. Where all rows look so, they are taken as
    they are: made by hand, perhaps, but no rest of memory behind rows of a model."""
    if all(doubts.values()):
        return None
    return next((row for row, doubt in sorted(doubts.items()) if doubt), None)
