"""How often each 16-bit code occurs in a row, or among chosen tokens of a row."""

from __future__ import annotations

from threading import local

import numpy as np
from numpy.typing import NDArray

CODES = 1 << 16


class _Scratch(local):
    """One index array per thread, reused: a fresh one costs more than the counting itself."""

    array: NDArray[np.intp] | None = None

    def of(self, size: int) -> NDArray[np.intp]:
        if self.array is None or len(self.array) < size:
            self.array = np.empty(size, dtype=np.intp)
        return self.array[:size]


_scratch = _Scratch()


def code_counts(
    codes: NDArray[np.uint16], chosen: NDArray[np.bool_] | None = None
) -> NDArray[np.intp]:
    """Counts [65536] of the codes [V], of the chosen tokens only where ``chosen`` is given."""
    indices = _scratch.of(len(codes))
    if chosen is None:
        np.copyto(indices, codes)
        return np.bincount(indices, minlength=CODES)
    np.multiply(codes, chosen, out=indices)
    counts = np.bincount(indices, minlength=CODES)
    counts[0] -= len(codes) - int(np.count_nonzero(chosen))
    return counts
