"""The header of a GGUF file: its keys and where its tensors lie. No tensor data is read.

Layout (ggml, docs/gguf.md, versions 2 and 3): "GGUF", uint32 version, uint64 tensors, uint64 keys;
per key a text, a uint32 type and a value; per tensor a text, uint32 axes, uint64 sizes (first axis
fastest), a uint32 type and a uint64 offset; then padding up to ``general.alignment`` (32) and data.
"""

from __future__ import annotations

from dataclasses import dataclass
from struct import Struct, calcsize

from specdist.errors import CaptureError
from specdist.readers.naming import shorten
from specdist.readers.sources import LocalFile
from specdist.readers.storage import Handles

HEADER_LIMIT = 2**20
TEXT_LIMIT = 1 << 16
AXES_LIMIT = 4
F32, I32 = 0, 26
"""ggml types that hold plain numbers here."""

_NUMBERS = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q"}
_NUMBERS[12] = "d"
_TEXT, _ARRAY = 8, 9
_KIND_KEYS = ("general.architecture", "general.type")
"""Keys that models, adapters and importance matrices have; the header is not read beyond them."""

Value = str | int | float | bool


@dataclass(frozen=True, slots=True)
class GgufTensor:
    """``sizes`` as written, the first axis fastest; ``start`` counts from the start of the file."""

    name: str
    sizes: tuple[int, ...]
    type: int
    start: int


@dataclass(frozen=True, slots=True)
class GgufHeader:
    """``kind`` is the value of a key that only other sorts of GGUF files have; then nothing after
    that key was read. ``order`` is the byte order, ``<`` or ``>``."""

    keys: dict[str, Value]
    tensors: dict[str, GgufTensor]
    order: str
    kind: str = ""


class _Cursor:
    """Reads numbers and texts one after the other, within the first bytes of the file."""

    def __init__(self, data: bytes, whole: bool, name: str) -> None:
        self.data = data
        self.whole = whole
        self.name = name
        self.at = 4
        self.order = "<"

    def take(self, count: int) -> bytes:
        if self.at + count > len(self.data):
            raise CaptureError(
                "the GGUF header ends too early"
                if self.whole
                else f"the GGUF header is longer than {HEADER_LIMIT} bytes",
                place=self.name,
                expected="the results of llama-results: few keys and two tensors",
            )
        self.at += count
        return self.data[self.at - count : self.at]

    def number(self, code: str) -> int | float | bool:
        found: int | float | bool = Struct(self.order + code).unpack(self.take(calcsize(code)))[0]
        return found

    def count(self, limit: int, what: str, code: str = "Q") -> int:
        found = int(self.number(code))
        if found > limit:
            raise CaptureError(
                f"the GGUF header claims {found} {what}", place=self.name, expected=f"<= {limit}"
            )
        return found

    def text(self) -> str:
        return self.take(self.count(TEXT_LIMIT, "bytes of a text")).decode("utf-8", "replace")

    def value(self) -> Value:
        kind = int(self.number("I"))
        if kind == _TEXT:
            return self.text()
        if kind == _ARRAY:
            return self._array()
        if kind not in _NUMBERS:
            raise CaptureError(f"the GGUF value type {kind} is unknown", place=self.name)
        return self.number(_NUMBERS[kind])

    def _array(self) -> Value:
        kind, count = int(self.number("I")), self.count(HEADER_LIMIT, "items of an array")
        if kind == _TEXT:
            for _ in range(count):
                self.text()
        elif kind in _NUMBERS:
            self.take(count * calcsize(_NUMBERS[kind]))
        else:
            raise CaptureError(f"the GGUF array type {kind} is unknown", place=self.name)
        return f"{count} items"


def read_gguf(file: LocalFile) -> GgufHeader:
    """The header of a file that starts with GGUF. Raises CaptureError where it is damaged, or
    longer than a file of results could have it."""
    with Handles() as handles:
        data = handles.read(file.path, file.name, 0, min(file.size, HEADER_LIMIT))
    cursor = _Cursor(data, file.size <= HEADER_LIMIT, file.name)
    _version(cursor)
    tensors = cursor.count(1 << 20, "tensors")
    keys: dict[str, Value] = {}
    for _ in range(cursor.count(1 << 20, "keys")):
        key = cursor.text()
        keys[key] = cursor.value()
        if key in _KIND_KEYS:
            return GgufHeader(keys, {}, cursor.order, f"{key} {shorten(str(keys[key]), 40)}")
    found = [_tensor(cursor) for _ in range(tensors)]
    start = _aligned(cursor.at, keys.get("general.alignment", 32), file.name)
    placed = {t.name: GgufTensor(t.name, t.sizes, t.type, start + t.start) for t in found}
    return GgufHeader(keys, placed, cursor.order)


def _version(cursor: _Cursor) -> None:
    raw = cursor.take(4)
    for order in "<>":
        if Struct(f"{order}I").unpack(raw)[0] in (2, 3):
            cursor.order = order
            return
    raise CaptureError(
        f"GGUF version {int.from_bytes(raw, 'little')}",
        place=cursor.name,
        expected="version 2 or 3",
    )


def _tensor(cursor: _Cursor) -> GgufTensor:
    name = cursor.text()
    axes = cursor.count(AXES_LIMIT, "axes of a tensor", "I")
    sizes = tuple(cursor.count(1 << 40, "numbers along an axis") for _ in range(axes))
    return GgufTensor(name, sizes, int(cursor.number("I")), cursor.count(1 << 62, "bytes"))


def _aligned(at: int, alignment: Value, name: str) -> int:
    if type(alignment) is not int or not 0 < alignment <= 1 << 16:
        raise CaptureError(f"an alignment of {alignment}", place=name, expected="1 to 65536")
    return -(-at // alignment) * alignment
