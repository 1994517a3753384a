"""What a file is, by its first bytes; its name never counts."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum

from specdist.errors import CaptureError, NotACaptureError, SettingsError
from specdist.readers.naming import nearest


class Format(StrEnum):
    """The formats that can be read."""

    JSON = "json"
    JSON_LINES = "jsonl"
    NPY = "npy"
    NPZ = "npz"
    SAFETENSORS = "safetensors"
    TORCH = "torch"
    KLD = "llama-kld"
    GGUF = "llama-results"
    PARQUET = "parquet"
    LLAMA_DEBUG = "llama-debug"
    """Headerless float32, which content cannot tell: only by ``--reader``."""


@dataclass(frozen=True, slots=True)
class _Refused:
    start: bytes
    what: str
    advice: str


_SAVE_ROWS = "save the rows themselves as safetensors, .npy or .npz"
_UNPACK = "unpack it and pass the files inside"

_REFUSED = (
    _Refused(
        b"\x80\x02\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19",
        "a torch stream from before version 1.6, which is a pickle",
        "load and save it again with torch 1.6 or later, or save safetensors",
    ),
    _Refused(b"ARROW1", "an Arrow file", _SAVE_ROWS),
    _Refused(b"\xff\xff\xff\xff", "an Arrow stream", _SAVE_ROWS),
    _Refused(b"\x89HDF\r\n\x1a\n", "an HDF5 file", _SAVE_ROWS),
    _Refused(b"BZh", "a bzip2 file", _UNPACK),
    _Refused(b"\xfd7zXZ\x00", "an xz file", _UNPACK),
    _Refused(b"\x28\xb5\x2f\xfd", "a zstandard file", _UNPACK),
    _Refused(b"\x04\x22\x4d\x18", "an lz4 file", _UNPACK),
    _Refused(b"7z\xbc\xaf\x27\x1c", "a 7z archive", _UNPACK),
    _Refused(b"Rar!\x1a\x07", "a rar archive", _UNPACK),
    _Refused(b"SQLite format 3\x00", "an SQLite database", _SAVE_ROWS),
    _Refused(b"PK\x05\x06", "an empty zip archive", _SAVE_ROWS),
)
_STARTS = ((b"_logits_", Format.KLD), (b"GGUF", Format.GGUF), (b"PAR1", Format.PARQUET))
_PICKLE_TEXT = re.compile(rb"\(?[cdl(]{1,2}p?[A-Za-z_0-9.]*\n")
_PROMETHEUS = re.compile(rb"# (HELP|TYPE) |[a-zA-Z_:][\w:]*(\{[^}\n]*\})? [-+.\deE]+\r?(\n|$)")


def recognise(head: bytes, name: str, size: int) -> Format:
    """The format of content that starts with ``head``; gzip is looked into by the caller.

    Raises NotACaptureError for content that no reader knows, naming what it is where possible.
    """
    if head.startswith(b"\x93NUMPY"):
        return Format.NPY
    if head.startswith(b"PK\x03\x04"):
        return Format.NPZ  # the members decide between npz and torch
    if _is_safetensors(head, size):
        return Format.SAFETENSORS
    for start, kind in _STARTS:
        if head.startswith(start):
            return kind
    if head.lstrip(b"\xef\xbb\xbf \t\r\n")[:1] in (b"{", b"["):
        return Format.JSON
    raise _unknown(head, name, size)


def is_gzip(head: bytes) -> bool:
    return head.startswith(b"\x1f\x8b")


def is_prometheus(head: bytes) -> bool:
    """Whether content begins as Prometheus text does."""
    return _PROMETHEUS.match(head.lstrip()) is not None


def forced_format(reader: str) -> Format | None:
    """The format of ``--reader``; None for the name of an answer's format, whose content says
    whether it is a document or lines. Raises SettingsError."""
    if reader in set(Format):
        return Format(reader)
    from specdist.readers.engine_files.registry import answer_formats, lines_formats

    answers = [form.name for form in answer_formats()] + [form.name for form in lines_formats()]
    if reader in answers:
        return None
    known: list[str] = [item.value for item in Format]
    raise SettingsError(
        f"there is no reader {reader[:40]!r}",
        expected=", ".join([*known, *answers]),
        advice=nearest(reader, [*known, *answers]),
    )


def _is_safetensors(head: bytes, size: int) -> bool:
    if len(head) < 10 or head[8:9] != b"{" or head[9:10] not in (b'"', b"}", b" "):
        return False
    # A text that happens to have a brace there would claim a header of exabytes.
    return not all(byte in b"\t\n\r" or 32 <= byte < 127 for byte in head[:8])


def _unknown(head: bytes, name: str, size: int) -> CaptureError:
    if size == 0:
        return NotACaptureError("the file is empty", place=name, expected="a capture")
    for refused in _REFUSED:
        if head.startswith(refused.start):
            return NotACaptureError(f"this is {refused.what}", place=name, advice=refused.advice)
    if (head[:1] == b"\x80" and head[1:2] in b"\x02\x03\x04\x05") or _PICKLE_TEXT.match(head):
        return NotACaptureError(
            "this is a bare pickle, which can run code and is never opened",
            place=name,
            advice=_SAVE_ROWS,
        )
    if head[257:262] == b"ustar":
        return NotACaptureError("this is a tar archive", place=name, advice=_UNPACK)
    if is_prometheus(head):
        return NotACaptureError(
            "these are Prometheus metrics, and no rows",
            place=name,
            advice="counters stand beside a capture: specdist check CAPTURE --counters FILE",
        )
    if head[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return NotACaptureError("this text is UTF-16", place=name, expected="JSON in UTF-8")
    return NotACaptureError(
        "no reader recognises this content",
        place=name,
        expected="JSON, JSON lines, .npy, .npz, .safetensors or a torch .pt file",
    )
