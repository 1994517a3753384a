"""Content that is recognised and not read: what it is, why not, and what to dump instead."""

from __future__ import annotations

import re
from dataclasses import dataclass
from math import isfinite
from struct import unpack

from specdist.errors import CaptureError, NotACaptureError
from specdist.readers.naming import shorten
from specdist.readers.record_files import is_tfrecord


@dataclass(frozen=True, slots=True)
class _Refused:
    start: bytes
    what: str
    advice: str


_SAVE_ROWS = "save the rows themselves as safetensors, .npy or .npz"
_AS_TABLE = "write the table as parquet or JSON lines, or the rows as safetensors or .npy"
_UNPACK = "unpack it and pass the files inside"

_REFUSED = (
    _Refused(
        b"\x80\x02\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19",
        "a torch stream from before version 1.6, which is a pickle",
        "load and save it again with torch 1.6 or later, or save safetensors",
    ),
    _Refused(b"ARROW1", "an Arrow file", _AS_TABLE),
    _Refused(b"\xff\xff\xff\xff", "an Arrow stream", _AS_TABLE),
    _Refused(b"\x89HDF\r\n\x1a\n", "an HDF5 file", _AS_TABLE),
    _Refused(b"\x83\xaf\x70\xd1\x0d\x88\x4a\x3f", "a file of records (ArrayRecord)", _AS_TABLE),
    _Refused(b"BZh", "a bzip2 file", _UNPACK),
    _Refused(b"\xfd7zXZ\x00", "an xz file", _UNPACK),
    _Refused(b"\x28\xb5\x2f\xfd", "a zstandard file", _UNPACK),
    _Refused(b"\x04\x22\x4d\x18", "an lz4 file", _UNPACK),
    _Refused(b"7z\xbc\xaf\x27\x1c", "a 7z archive", _UNPACK),
    _Refused(b"Rar!\x1a\x07", "a rar archive", _UNPACK),
    _Refused(b"SQLite format 3\x00", "an SQLite database", _SAVE_ROWS),
    _Refused(b"PK\x05\x06", "an empty zip archive", _SAVE_ROWS),
)
_PICKLE_TEXT = re.compile(rb"\(?[cdl(]{1,2}p?[A-Za-z_0-9.]*\n")
_PROMETHEUS = re.compile(
    rb"# (HELP|TYPE) |[a-zA-Z_:][\w:]*(?<!:)(\{[^}\n]*\})? [-+.\deE]+\r?(\n|$)"
)
_DEBUG_TEXT = re.compile(rb"\s*0: *[-+]?(?:\d|\.\d|nan|inf)")

_PICKLE_ADVICE = {
    "vllm": "dump the answers as JSON, with return_tokens_as_token_ids",
    "transformers": "save the rows alone: torch.save(out.logits, ...) or a dict of tensors",
}


def is_prometheus(head: bytes) -> bool:
    """Whether content begins as Prometheus text does."""
    return _PROMETHEUS.match(head.lstrip()) is not None


def is_debug_text(head: bytes) -> bool:
    """Whether content begins as the lines "index: value" of llama-debug do."""
    return _DEBUG_TEXT.match(head) is not None


def unknown(head: bytes, name: str, size: int) -> CaptureError:
    """The error for a file of ``size`` bytes that starts with ``head`` and that nobody reads."""
    if size == 0:
        return NotACaptureError("the file is empty", place=name, expected="a capture")
    for refused in _REFUSED:
        if head.startswith(refused.start):
            return NotACaptureError(f"this is {refused.what}", place=name, advice=refused.advice)
    if (head[:1] == b"\x80" and head[1:2] in b"\x02\x03\x04\x05") or _PICKLE_TEXT.match(head):
        return _pickle(head, name)
    if head[257:262] == b"ustar":
        return NotACaptureError("this is a tar archive", place=name, advice=_UNPACK)
    if is_tfrecord(head):
        return NotACaptureError("this is a tfrecord file", place=name, advice=_AS_TABLE)
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
        advice=_headerless(head, size),
    )


def zipped_refusal(head: bytes, kind: str, name: str) -> CaptureError:
    """The error for a format inside gzip that starts with ``head``."""
    if b"hidden_state" in head:
        return NotACaptureError(
            "this is a gzipped record of hidden states, which are no distribution",
            place=name,
            expected="rows over the vocabulary",
            advice=HIDDEN_ADVICE,
        )
    if b"data.pkl" in head:
        kind = "a torch file"
    return CaptureError(f"{kind} inside gzip", place=name, advice="unpack it with gunzip first")


HIDDEN_ADVICE = (
    "hidden states become logits only through the model's last norm and its head: save those "
    "logits, with the numbers that the engine computes in"
)


def _pickle(head: bytes, name: str) -> CaptureError:
    asked = first_global(head)
    start = asked.partition(".")[0]
    return NotACaptureError(
        "this is a bare pickle, which can run code and is never opened"
        + (f"; it asks for {shorten(asked)}" if asked else ""),
        place=name,
        advice=_PICKLE_ADVICE.get(start, _SAVE_ROWS),
    )


def first_global(data: bytes) -> str:
    """The first name that a pickle would import, read off its opcodes; empty where ``data`` ends
    before one. Nothing is run."""
    import pickletools

    texts: list[str] = []
    try:
        for opcode, argument, _ in pickletools.genops(data):
            if opcode.name in ("GLOBAL", "INST"):
                return str(argument).replace(" ", ".")
            if opcode.name == "STACK_GLOBAL" and len(texts) > 1:
                return ".".join(texts[-2:])
            if isinstance(argument, str) and "UNICODE" in opcode.name:
                texts.append(argument)
    except (ValueError, UnicodeError, OverflowError, IndexError):
        return ""
    return ""


def _headerless(head: bytes, size: int) -> str:
    """Advice where the content could be the row that llama-debug writes."""
    if is_debug_text(head):
        return "lines of a token and its value, as llama-debug writes, need --reader llama-debug"
    count = min(len(head), size) // 4
    if size % 4 or count < 4:
        return ""
    values = unpack(f"<{count}f", head[: 4 * count])
    plain = all(isfinite(value) and (value == 0 or 1e-6 < abs(value) < 1e4) for value in values)
    if not plain or not any(values):
        return ""
    return (
        f"if these are {size // 4} float32 logits without a header, as llama-debug writes them: "
        f"--reader llama-debug --vocab-size {size // 4}"
    )
