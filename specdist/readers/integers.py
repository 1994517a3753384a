"""Integer tensors beside the rows: token ids, draft lengths, positions."""

from __future__ import annotations

from itertools import product

import numpy as np

from specdist.errors import CaptureError
from specdist.readers.storage import Handles
from specdist.readers.tensor import Tensor, contiguous_strides

COUNT_LIMIT = 1 << 22


def read_integers(tensor: Tensor, place: str) -> tuple[int, ...]:
    """All values of an integer tensor in C order. Raises CaptureError."""
    if tensor.element.numbers is not None:
        raise CaptureError(f"{tensor.element.name} numbers where whole numbers belong", place=place)
    if tensor.count > COUNT_LIMIT:
        raise CaptureError(
            f"{tensor.count} whole numbers", place=place, expected=f"at most {COUNT_LIMIT}"
        )
    if tensor.count == 0:
        return ()
    dtype = np.dtype(tensor.element.dtype)
    shape = tensor.shape[1:] if tensor.stacked else tensor.shape
    values: list[int] = []
    with Handles() as handles:
        for piece in tensor.pieces:
            spread = [(n - 1) * s for n, s in zip(shape, piece.strides, strict=True)]
            data = piece.storage.read(
                handles, piece.offset * dtype.itemsize, (sum(spread) + 1) * dtype.itemsize
            )
            flat = np.frombuffer(data, dtype)
            if piece.strides == contiguous_strides(shape):
                values += flat.tolist()
                continue
            for index in product(*map(range, shape)):
                at = sum(i * s for i, s in zip(index, piece.strides, strict=True))
                values.append(int(flat[at]))
    return tuple(int(value) for value in values)
