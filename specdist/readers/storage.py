"""Bytes of a tensor inside a file, read by offset and never mapped into memory.

Nothing here keeps a file open: a ``Handles`` does, for as long as rows are being read.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import BinaryIO, Protocol, Self

from specdist.errors import CaptureError

INFLATE_CHUNK = 1 << 18


class Storage(Protocol):
    """``size`` bytes; ``sequential`` says that reading backwards starts from the beginning."""

    @property
    def size(self) -> int: ...

    @property
    def sequential(self) -> bool: ...

    def read(self, handles: Handles, start: int, count: int) -> bytes:
        """Exactly ``count`` bytes from ``start``. Raises CaptureError."""


@dataclass(frozen=True, slots=True)
class FileRange:
    """A stretch of a file that holds the bytes as they are."""

    path: Path
    name: str
    start: int
    size: int
    sequential: bool = False

    def read(self, handles: Handles, start: int, count: int) -> bytes:
        if start < 0 or start + count > self.size:
            raise _outside(self.name, start, count, self.size)
        return handles.read(self.path, self.name, self.start + start, count)


@dataclass(frozen=True, slots=True)
class DeflatedRange:
    """A deflated zip member. It may give exactly the ``size`` bytes that it claims."""

    path: Path
    name: str
    start: int
    packed: int
    size: int
    crc: int
    sequential: bool = True

    def read(self, handles: Handles, start: int, count: int) -> bytes:
        if start < 0 or start + count > self.size:
            raise _outside(self.name, start, count, self.size)
        state = handles.inflating.get(self)
        if state is None or state.position > start:
            state = handles.inflating[self] = _Inflating(self)
        while state.position < start:
            state.take(handles, min(start - state.position, INFLATE_CHUNK))
        return state.take(handles, count)


class _Inflating:
    """How far a deflated member has been read, with its running checksum."""

    def __init__(self, member: DeflatedRange) -> None:
        import zlib

        self.member = member
        self.position = 0
        self._consumed = 0
        self._crc = 0
        self._pending = b""
        self._engine = zlib.decompressobj(-15)

    def take(self, handles: Handles, count: int) -> bytes:
        import zlib

        parts: list[bytes] = []
        missing = count
        while missing > 0:
            part = self._inflate(handles, missing)
            if not part:
                raise CaptureError(
                    "the zip member unpacks to less than it claims",
                    place=self.member.name,
                    expected=f"{self.member.size} bytes",
                )
            parts.append(part)
            missing -= len(part)
        data = b"".join(parts)
        self._crc = zlib.crc32(data, self._crc)
        self.position += count
        if self.position == self.member.size:
            self._finish(handles)
        return data

    def _inflate(self, handles: Handles, limit: int) -> bytes:
        import zlib

        while True:
            if not self._pending and not self._engine.eof:
                left = self.member.packed - self._consumed
                chunk = min(left, INFLATE_CHUNK)
                if chunk == 0:
                    return b""
                start = self.member.start + self._consumed
                self._pending = handles.read(self.member.path, self.member.name, start, chunk)
                self._consumed += chunk
            try:
                data = self._engine.decompress(self._pending, limit)
            except zlib.error:
                raise CaptureError(
                    "the compressed data is damaged", place=self.member.name
                ) from None
            self._pending = self._engine.unconsumed_tail
            if data or self._engine.eof:
                return data

    def _finish(self, handles: Handles) -> None:
        if not self._engine.eof and self._inflate(handles, 1):
            raise CaptureError(
                "the zip member unpacks to more than it claims",
                place=self.member.name,
                expected=f"{self.member.size} bytes",
            )
        if self._crc != self.member.crc:
            raise CaptureError("the checksum of the zip member is wrong", place=self.member.name)


@dataclass(slots=True)
class Handles:
    """Open files and decompressors while rows are read; closed on leaving the block."""

    files: dict[Path, BinaryIO] = field(default_factory=dict)
    inflating: dict[DeflatedRange, _Inflating] = field(default_factory=dict)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for file in self.files.values():
            file.close()
        self.files.clear()
        self.inflating.clear()

    def read(self, path: Path, name: str, start: int, count: int) -> bytes:
        """Exactly ``count`` bytes of a file. Raises CaptureError."""
        try:
            file = self.files.get(path)
            if file is None:
                file = self.files[path] = path.open("rb", buffering=0)
            file.seek(start)
            data = file.read(count)
            while len(data) < count:
                more = file.read(count - len(data))
                if not more:
                    break
                data += more
        except OSError as error:
            reason = (error.strerror or "input/output error").lower()
            raise CaptureError(f"cannot be read: {reason}", place=name) from None
        if len(data) < count:
            raise CaptureError(
                f"the file ends at byte {start + len(data)}",
                place=name,
                expected=f"{start + count} bytes",
            )
        return data


def _outside(name: str, start: int, count: int, size: int) -> CaptureError:
    return CaptureError(
        f"bytes {start} to {start + count} lie outside the {size} stored bytes", place=name
    )
