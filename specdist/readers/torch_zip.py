"""torch.save files since version 1.6: a zip with a pickle and one raw member a storage.

Tensors are views: storage, offset, shape and strides, all checked against the bytes that are
there. A list or tuple of per-step tensors [B, V] of equal shape is one tensor [T, B, V].
"""

from __future__ import annotations

from math import prod
from typing import Any

from specdist.errors import CaptureError
from specdist.readers.elements import BFLOAT16, BY_NAME, FLOAT16, FLOAT32, FLOAT64, Element
from specdist.readers.naming import shape_text, shorten
from specdist.readers.storage import Handles
from specdist.readers.tensor import Archive, Piece, Tensor, stacked
from specdist.readers.torch_pickle import TensorRef, load_tensor_pickle
from specdist.readers.zip_members import Member

PICKLE_LIMIT = 16 * 2**20
ELEMENT_LIMIT = 1 << 40
DEPTH_LIMIT = 20
VISIT_LIMIT = 200_000
"""Containers may share parts, so walking them can take longer than reading them did."""

_ELEMENTS: dict[str, Element] = {
    "HalfStorage": FLOAT16,
    "BFloat16Storage": BFLOAT16,
    "FloatStorage": FLOAT32,
    "DoubleStorage": FLOAT64,
    "BoolStorage": BY_NAME["bool"],
    "ByteStorage": BY_NAME["uint8"],
    "CharStorage": BY_NAME["int8"],
    "ShortStorage": BY_NAME["int16"],
    "IntStorage": BY_NAME["int32"],
    "LongStorage": BY_NAME["int64"],
}


def read_torch(source: str, members: tuple[Member, ...]) -> Archive:
    """The tensors of a file, named by their keys. Raises CaptureError."""
    value, inside, big = _unpickled(source, members)
    reading = _Reading(source, inside, big)
    reading.collect("", value, 0)
    if not reading.tensors and not reading.refused:
        raise CaptureError("the file holds no tensor", place=source, expected="rows of numbers")
    return Archive(source, "torch", reading.tensors, reading.facts, reading.refused)


def torch_list(source: str, members: tuple[Member, ...]) -> list[Any] | None:
    """The list that a file holds in place of tensors; None when it holds anything else."""
    value, _, _ = _unpickled(source, members)
    plain = isinstance(value, list) and all(type(item) is int for item in value)
    return value if plain else None


def _unpickled(source: str, members: tuple[Member, ...]) -> tuple[Any, dict[str, Member], bool]:
    """What was saved, the members beside the pickle, and whether numbers are big endian."""
    pickles = [m for m in members if m.name == "data.pkl" or m.name.endswith("/data.pkl")]
    if len(pickles) != 1:
        raise CaptureError(f"{len(pickles)} members named data.pkl", place=source, expected="one")
    stem = pickles[0].name.removesuffix("data.pkl")
    inside = {m.name.removeprefix(stem): m for m in members if m.name.startswith(stem)}
    place = f"{source}, data.pkl"
    if pickles[0].storage.size > PICKLE_LIMIT:
        raise CaptureError(
            f"a pickle of {pickles[0].storage.size} bytes",
            place=place,
            expected=f"at most {PICKLE_LIMIT}",
        )
    with Handles() as handles:
        data = pickles[0].storage.read(handles, 0, pickles[0].storage.size)
        big = "byteorder" in inside and _text(inside["byteorder"], handles) == "big"
    return load_tensor_pickle(data, place), inside, big


def _text(member: Member, handles: Handles) -> str:
    return member.storage.read(handles, 0, min(16, member.storage.size)).decode("latin-1").strip()


class _Reading:
    """Walks the unpickled containers and turns references into checked tensors."""

    def __init__(self, source: str, inside: dict[str, Member], big_endian: bool) -> None:
        self.source = source
        self.inside = inside
        self.big_endian = big_endian
        self.tensors: dict[str, Tensor] = {}
        self.refused: dict[str, str] = {}
        self.facts: dict[str, str] = {}
        self.visited = 0

    def collect(self, name: str, value: Any, depth: int) -> None:
        """Adds the tensors below ``value`` under dotted names."""
        self._visit()
        if depth > DEPTH_LIMIT:
            raise CaptureError("the containers are nested too deeply", place=self.source)
        if isinstance(value, TensorRef):
            self._add(name or "tensor", value)
        elif isinstance(value, dict):
            for key, item in value.items():
                self.collect(_dotted(name, key), item, depth + 1)
        elif isinstance(value, list | tuple) and any(isinstance(i, TensorRef) for i in value):
            self._sequence(name, value, depth)
        elif isinstance(value, list | tuple) and any(
            isinstance(item, list | tuple | dict) for item in value
        ):
            for index, item in enumerate(value):
                self.collect(_dotted(name, index), item, depth + 1)
        elif isinstance(value, str | int | float) and name:
            self.facts[shorten(name)] = _plain(value)

    def _visit(self) -> None:
        self.visited += 1
        if self.visited > VISIT_LIMIT:
            raise CaptureError("the containers hold too many items", place=self.source)

    def _sequence(self, name: str, items: list[Any] | tuple[Any, ...], depth: int) -> None:
        label = name or ("tuple" if isinstance(items, tuple) else "list")
        if all(isinstance(item, TensorRef) for item in items):
            parts = [self._tensor(f"{label}[{i}]", item) for i, item in enumerate(items)]
            known = [part for part in parts if part is not None]
            first = known[0] if known else None
            if len(known) < len(parts):
                self.refused[label] = self.refused.pop(f"{label}[0]", "mixed types")
                return
            if first is not None and all(
                p.shape == first.shape and p.element == first.element for p in known
            ):
                self.tensors[label] = stacked(label, known)
                return
        for index, item in enumerate(items):
            self.collect(_dotted(name, index), item, depth + 1)

    def _add(self, name: str, reference: TensorRef) -> None:
        tensor = self._tensor(name, reference)
        if tensor is None:
            return
        if name in self.tensors:
            raise CaptureError(f"two tensors are named {shorten(name)!r}", place=self.source)
        self.tensors[name] = tensor

    def _tensor(self, name: str, reference: TensorRef) -> Tensor | None:
        self._visit()
        place = f"{self.source}, {shorten(name)}"
        known = _ELEMENTS.get(reference.storage.kind)
        if known is None:
            self.refused[name] = f"numbers of {shorten(reference.storage.kind)} are not read"
            return None
        element = Element(known.name, known.code, known.size, known.numbers, self.big_endian)
        member = self.inside.get(f"data/{reference.storage.key}")
        if member is None:
            raise CaptureError(
                f"the storage {shorten(reference.storage.key)} is missing", place=place
            )
        count = reference.storage.count
        if count < 0 or count * element.size > member.storage.size:
            raise CaptureError(
                f"a storage of {member.storage.size} bytes claims {count} {element.name} numbers",
                place=place,
                expected="a whole file",
            )
        shape, strides = _checked_view(reference, count, place)
        return Tensor(name, element, shape, (Piece(member.storage, reference.offset, strides),))


def _dotted(name: str, key: object) -> str:
    return f"{name}.{_plain(key)}" if name else _plain(key)


def _plain(value: object) -> str:
    if isinstance(value, int) and value.bit_length() > 200:
        return "a number of many digits"
    return shorten(str(value), 200)


def _checked_view(
    reference: TensorRef, count: int, place: str
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Shape and strides, when every element of the view lies inside its storage."""
    shape, strides, offset = reference.shape, reference.strides, reference.offset
    if not (_sizes(shape) and _sizes(strides) and len(shape) == len(strides)) or not _sizes(
        (offset,)
    ):
        raise CaptureError("shape, strides or offset of this tensor are damaged", place=place)
    elements = prod(shape)
    last = offset + sum((n - 1) * s for n, s in zip(shape, strides, strict=True))
    if elements and last >= count:
        raise CaptureError(
            f"shape {shape_text(shape)} with strides {shape_text(strides)} at offset {offset} "
            f"reaches number {last}",
            place=place,
            expected=f"numbers 0 to {count - 1} of the storage",
        )
    if elements > max(count, 1) * 4096 or elements > ELEMENT_LIMIT:
        raise CaptureError(
            f"shape {shape_text(shape)} over a storage of {count} numbers",
            place=place,
            expected="a tensor that is stored, not expanded",
        )
    return tuple(shape), tuple(strides)


def _sizes(value: Any) -> bool:
    return (
        isinstance(value, tuple)
        and len(value) <= 32
        and all(type(item) is int and 0 <= item < 2**62 for item in value)
    )
