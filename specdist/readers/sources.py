"""Where bytes come from: a regular file, standard input, or gzip around either."""

from __future__ import annotations

import os
import stat
import sys
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import IO, Protocol, cast

from specdist.errors import CaptureError

HEAD_BYTES = 1024
DOCUMENT_LIMIT = 256 * 2**20
"""Bytes of one JSON document or one line of JSON lines, after decompression."""

STDIN_NAME = "<stdin>"


class ByteSource(Protocol):
    """Something that can be opened for reading again and again."""

    @property
    def name(self) -> str: ...

    def open(self) -> IO[bytes]:
        """A fresh stream from the first byte. Raises CaptureError."""


@dataclass(frozen=True, slots=True)
class LocalFile:
    """A regular file; ``name`` is how the user wrote it and how messages show it."""

    path: Path
    name: str
    size: int

    def open(self) -> IO[bytes]:
        try:
            return self.path.open("rb")
        except OSError as error:
            raise _os_error(error, self.name) from None


@dataclass(frozen=True, slots=True)
class StandardInput:
    """Standard input, read once into memory so that it can be iterated afresh."""

    data: bytes
    name: str = STDIN_NAME

    def open(self) -> IO[bytes]:
        return BytesIO(self.data)


@dataclass(frozen=True, slots=True)
class Gunzipped:
    """The inside of a gzip file; nothing is unpacked before it is read."""

    inner: ByteSource

    @property
    def name(self) -> str:
        return self.inner.name

    def open(self) -> IO[bytes]:
        from specdist.readers.gzip_stream import GunzipStream

        return cast("IO[bytes]", GunzipStream(self.inner.open()))


def local_file(name: str) -> LocalFile:
    """The regular file of that name. Raises CaptureError for everything else.

    Pipes and devices are refused before they are opened: opening a pipe would block.
    """
    if not name:
        raise CaptureError(
            "the name of a file is empty", place='""', expected="a file, a folder, or -"
        )
    path = Path(name)
    try:
        status = path.stat()
    except OSError as error:
        raise _os_error(error, name) from None
    except ValueError:
        raise CaptureError("this is no file name", place=repr(name)) from None
    if stat.S_ISDIR(status.st_mode):
        raise CaptureError("this is a folder", place=name, expected="a file")
    if not stat.S_ISREG(status.st_mode):
        raise CaptureError(
            "this is not a regular file",
            place=name,
            expected="a file that can be read more than once",
            advice="pipe JSON into `-` (standard input), or save it to a file first",
        )
    if not os.access(path, os.R_OK):
        raise CaptureError("permission to read is denied", place=name)
    return LocalFile(path, name, status.st_size)


def standard_input() -> StandardInput:
    """Everything on standard input, up to the size of one document."""
    if sys.stdin is None:
        raise CaptureError(
            "standard input is closed", place=STDIN_NAME, expected="a JSON capture on it"
        )
    data = read_checked(sys.stdin.buffer, DOCUMENT_LIMIT + 1, STDIN_NAME)
    if len(data) > DOCUMENT_LIMIT:
        raise too_large(STDIN_NAME)
    return StandardInput(data)


def head_of(source: ByteSource, count: int = HEAD_BYTES) -> bytes:
    """The first bytes, fewer when the source is shorter."""
    with source.open() as stream:
        return read_checked(stream, count, source.name)


def read_checked(stream: IO[bytes], count: int, name: str, line: bool = False) -> bytes:
    """Up to ``count`` bytes, or up to the end of the line; broken compression and I/O errors
    become CaptureError."""
    import zlib

    try:
        return stream.readline(count) if line else stream.read(count)
    except EOFError:
        raise CaptureError("the gzip data ends too early", place=name) from None
    except zlib.error:
        raise CaptureError("the gzip data is damaged", place=name) from None
    except OSError as error:
        raise _os_error(error, name) from None


def read_document_bytes(source: ByteSource) -> bytes:
    """Everything in a source that is one JSON document. Raises CaptureError beyond the limit."""
    with source.open() as stream:
        data = read_checked(stream, DOCUMENT_LIMIT + 1, source.name)
    if len(data) > DOCUMENT_LIMIT:
        raise too_large(source.name)
    return data


def split_name(text: str) -> tuple[str, str | None]:
    """``FILE::NAME`` as file and tensor name; a file whose own name holds ``::`` wins."""
    if "::" not in text or os.path.exists(text):
        return text, None
    path, _, name = text.rpartition("::")
    return path, name


def too_large(name: str) -> CaptureError:
    return CaptureError(
        f"the JSON text is larger than {DOCUMENT_LIMIT // 2**20} MB",
        place=name,
        advice="write one step a line (JSON lines), or save the rows as safetensors or .npy",
    )


def _os_error(error: OSError, name: str) -> CaptureError:
    import gzip

    if isinstance(error, gzip.BadGzipFile):
        return CaptureError("the gzip data is damaged", place=name)
    if isinstance(error, FileNotFoundError):
        return CaptureError("no such file", place=name)
    if isinstance(error, PermissionError):
        return CaptureError("permission to read is denied", place=name)
    reason = (error.strerror or "input/output error").lower()
    return CaptureError(f"cannot be read: {reason}", place=name)
