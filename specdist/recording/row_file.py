"""Rows written to an .npy file one after the other; how many there are is known at the end."""

from __future__ import annotations

import os
from pathlib import Path
from typing import IO, Any

HEADER_BYTES = 128
"""Bytes before the first row."""
_MAGIC = b"\x93NUMPY\x01\x00" + (HEADER_BYTES - 10).to_bytes(2, "little")


class RowFile:
    """An array [rows, width] of float32 that grows; memory does not. ``close`` writes the shape.

    Raises OSError where the file cannot be written.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.count = 0
        self.width = 0
        self._file: IO[bytes] | None = None

    def append(self, rows: Any) -> list[int]:
        """Adds float32 rows of shape [n, width]; gives their row numbers."""
        count, width = rows.shape
        if self._file is None:
            self._file = self.path.open("wb")
            self._file.write(b"\0" * HEADER_BYTES)
            self.width = width
        if width != self.width:
            raise ValueError(f"a row of {width} numbers after rows of {self.width}")
        self._file.write(rows.astype("<f4").tobytes())
        first, self.count = self.count, self.count + count
        return list(range(first, self.count))

    def close(self) -> None:
        """Writes the header; a file without rows is not there."""
        if self._file is None:
            return
        shape = f"({self.count}, {self.width})"
        text = f"{{'descr': '<f4', 'fortran_order': False, 'shape': {shape}, }}"
        self._file.seek(0, os.SEEK_SET)
        self._file.write(_MAGIC + text.encode().ljust(HEADER_BYTES - 11) + b"\n")
        self._file.close()
