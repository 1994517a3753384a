"""numpy's .npy: magic, version, a Python-literal header, then the numbers.

The header is matched by a fixed grammar, not evaluated. bfloat16 arrives as ``<V2`` (two opaque
bytes), because the format has no name for it. Format: numpy.lib.format, versions 1.0 to 3.0.
"""

from __future__ import annotations

import re
from math import prod

from specdist.errors import CaptureError
from specdist.readers.elements import BFLOAT16, BY_NAME, Element
from specdist.readers.sources import LocalFile
from specdist.readers.storage import FileRange, Handles, Storage
from specdist.readers.tensor import Archive, Piece, Tensor, contiguous_strides

MAGIC = b"\x93NUMPY"
HEADER_LIMIT = 1 << 16
AXES_LIMIT = 32

_ENTRY = re.compile(
    r"\s*(['\"])(?P<key>[a-z_]{1,20})\1\s*:\s*"
    r"(?:(?P<flag>True|False)|(?P<quote>['\"])(?P<text>[^'\"\\]*)(?P=quote)"
    r"|\((?P<shape>[0-9,L\s]*)\)|(?P<fields>\[.*\]))\s*(?P<end>,|$)",
    re.DOTALL,
)


class ObjectArrayError(CaptureError):
    """An array of pickled objects; inside an .npz the other members can still be read."""


def read_npy(file: LocalFile) -> Archive:
    """The one array of a file. Raises CaptureError."""
    storage = FileRange(file.path, file.name, 0, file.size)
    tensor = npy_tensor(storage, file.name, "array")
    return Archive(file.name, "npy", {"array": tensor})


def npy_tensor(storage: Storage, place: str, name: str) -> Tensor:
    """The array in a stretch of bytes that starts with the magic. Raises CaptureError."""
    with Handles() as handles:
        if storage.size < 10:
            raise CaptureError("the .npy header ends too early", place=place)
        start = storage.read(handles, 0, 10)
        if start[:6] != MAGIC:
            raise CaptureError(
                "wrong magic bytes", place=place, expected="a .npy array, which starts \\x93NUMPY"
            )
        if start[6] not in (1, 2, 3):
            raise CaptureError(f"unknown .npy version {start[6]}.{start[7]}", place=place)
        wide = start[6] > 1
        first = 12 if wide else 10
        lengths = storage.read(handles, 8, first - 8) if storage.size >= first else b""
        length = int.from_bytes(lengths, "little")
        if length > HEADER_LIMIT:
            raise CaptureError(
                f"the .npy header claims {length} bytes",
                place=place,
                expected=f"at most {HEADER_LIMIT}",
            )
        if first + length > storage.size:
            raise CaptureError("the .npy header ends too early", place=place)
        header = storage.read(handles, first, length).decode("latin-1")
    descr, fortran, shape = _header(header, place)
    element = _element(descr, place)
    _check_size(storage, first + length, prod(shape) * element.size, shape, descr, place)
    # Numbers are addressed in elements, so the header is cut off by a storage of its own.
    piece = Piece(_Tail(storage, first + length), 0, contiguous_strides(shape, fortran))
    return Tensor(name, element, shape, (piece,))


class _Tail:
    """A storage without its first bytes."""

    __slots__ = ("_skip", "_whole", "sequential", "size")

    def __init__(self, whole: Storage, skip: int) -> None:
        self._whole = whole
        self._skip = skip
        self.size = whole.size - skip
        self.sequential = whole.sequential

    def read(self, handles: Handles, start: int, count: int) -> bytes:
        return self._whole.read(handles, self._skip + start, count)


def _header(text: str, place: str) -> tuple[str, bool, tuple[int, ...]]:
    text = text.strip()
    entries: dict[str, re.Match[str]] = {}
    if text[:1] == "{" and text[-1:] == "}":
        body = text[1:-1].rstrip()
        position = 0
        while position < len(body):
            match = _ENTRY.match(body, position)
            if match is None or match["key"] in entries:
                entries = {}
                break
            entries[match["key"]] = match
            position = match.end()
    if set(entries) != {"descr", "fortran_order", "shape"}:
        raise CaptureError(
            "the .npy header is damaged",
            place=place,
            expected="a dictionary with descr, fortran_order and shape",
        )
    descr, fortran, shape = (entries[key] for key in ("descr", "fortran_order", "shape"))
    if descr["fields"] is not None:
        raise CaptureError(
            "this is a structured array", place=place, expected="a plain floating point array"
        )
    if descr["text"] is None or fortran["flag"] is None or shape["shape"] is None:
        raise CaptureError("the .npy header is damaged", place=place)
    return descr["text"], fortran["flag"] == "True", _shape(shape["shape"], place)


def _shape(text: str, place: str) -> tuple[int, ...]:
    parts = [part.strip().removesuffix("L") for part in text.split(",")]
    if parts and parts[-1] == "":
        parts.pop()
    if any(not part.isdigit() or len(part) > 18 for part in parts):
        raise CaptureError("the shape in the .npy header is damaged", place=place)
    if len(parts) > AXES_LIMIT:
        raise CaptureError(f"an array of {len(parts)} axes", place=place)
    return tuple(int(part) for part in parts)


_CODES = {element.code: element for element in BY_NAME.values() if element.name != "bfloat16"}


def _element(descr: str, place: str) -> Element:
    order, code = (descr[:1], descr[1:]) if descr[:1] in "<>=|" else ("=", descr)
    if code.startswith("O"):
        raise ObjectArrayError(
            "this array holds pickled Python objects",
            place=place,
            expected="numbers; pickles can run code and are never opened",
            advice="save one array a row in .npz, or one padded array as safetensors",
        )
    if code == "V2" or descr == "bfloat16":
        return Element("bfloat16", "u2", 2, BFLOAT16.numbers, order == ">")
    if code in ("V1", "f1"):
        raise CaptureError(
            f"numpy type {descr!r} is a float8 whose format the file does not say",
            place=place,
            advice="save the rows as bfloat16, float16 or float32",
        )
    known = _CODES.get(code)
    if known is None:
        raise CaptureError(
            f"rows cannot be read from numpy type {descr[:40]!r}",
            place=place,
            expected="float16, bfloat16 (<V2), float32 or float64",
        )
    return Element(known.name, known.code, known.size, known.numbers, order == ">")


def _check_size(
    storage: Storage, start: int, need: int, shape: tuple[int, ...], descr: str, place: str
) -> None:
    have = storage.size - start
    if have < need:
        raise CaptureError(
            f"the file ends too early: {have} bytes of numbers",
            place=place,
            expected=f"{need} bytes for shape {list(shape)} of {descr}",
        )
    if have > need:
        raise CaptureError(
            f"{have - need} bytes follow the array",
            place=place,
            expected="one array a file",
            advice="save several arrays with np.savez",
        )
