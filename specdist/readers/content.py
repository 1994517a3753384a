"""What a file is, by its first bytes; its name never counts."""

from __future__ import annotations

from enum import StrEnum

from specdist.errors import SettingsError
from specdist.readers.naming import nearest
from specdist.readers.refusals import unknown


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


_STARTS = ((b"_logits_", Format.KLD), (b"GGUF", Format.GGUF), (b"PAR1", Format.PARQUET))


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
    raise unknown(head, name, size)


def is_gzip(head: bytes) -> bool:
    return head.startswith(b"\x1f\x8b")


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
