"""safetensors: a length, a JSON header with types, shapes and offsets, then the numbers.

The rules of the format are enforced: offsets lie inside the file, cover it without holes and
never overlap. Source: huggingface/safetensors README, "Format", and its ``validate`` in Rust.
"""

from __future__ import annotations

from math import prod
from typing import Any

from specdist.errors import CaptureError
from specdist.readers.elements import BFLOAT16, BY_NAME, FLOAT16, FLOAT32, FLOAT64, Element
from specdist.readers.json_numbers import type_name
from specdist.readers.naming import shape_text, shorten
from specdist.readers.sources import LocalFile
from specdist.readers.storage import FileRange, Handles
from specdist.readers.strict_json import decode, parse
from specdist.readers.tensor import Archive, Piece, Tensor, contiguous_strides

HEADER_LIMIT = 16 * 2**20
AXES_LIMIT = 32

_ELEMENTS: dict[str, Element] = {
    "F16": FLOAT16,
    "BF16": BFLOAT16,
    "F32": FLOAT32,
    "F64": FLOAT64,
    "BOOL": BY_NAME["bool"],
    **{f"I{8 * size}": BY_NAME[f"int{8 * size}"] for size in (1, 2, 4, 8)},
    **{f"U{8 * size}": BY_NAME[f"uint{8 * size}"] for size in (1, 2, 4, 8)},
}


def read_safetensors(file: LocalFile) -> Archive:
    """The tensors of a file and its metadata. Raises CaptureError."""
    header, start = _header(file)
    metadata = _metadata(header.pop("__metadata__", {}), file.name)
    data = FileRange(file.path, file.name, start, file.size - start)
    spans: list[tuple[int, int, str]] = []
    tensors: dict[str, Tensor] = {}
    refused: dict[str, str] = {}
    for name, entry in header.items():
        place = f"{file.name}, {shorten(name)}"
        dtype, shape, begin, end = _entry(entry, data.size, place)
        spans.append((begin, end, name))
        element = _ELEMENTS.get(dtype)
        if element is None:
            refused[name] = f"type {shorten(dtype, 20)} holds no full-precision numbers"
            continue
        if end - begin != prod(shape) * element.size:
            raise CaptureError(
                f"{end - begin} bytes for shape {shape_text(shape)} of {dtype}",
                place=place,
                expected=f"{prod(shape) * element.size} bytes",
            )
        own = FileRange(file.path, file.name, start + begin, end - begin)
        piece = Piece(own, 0, contiguous_strides(shape))
        tensors[name] = Tensor(name, element, shape, (piece,))
    _check_cover(spans, data.size, file.name)
    return Archive(file.name, "safetensors", tensors, metadata, refused)


def _header(file: LocalFile) -> tuple[dict[str, Any], int]:
    with Handles() as handles:
        if file.size < 8:
            raise CaptureError("the safetensors header ends too early", place=file.name)
        length = int.from_bytes(handles.read(file.path, file.name, 0, 8), "little")
        if length > HEADER_LIMIT:
            raise CaptureError(
                f"the safetensors header claims {length} bytes",
                place=file.name,
                expected=f"at most {HEADER_LIMIT}",
            )
        if 8 + length > file.size:
            raise CaptureError(
                f"the safetensors header claims {length} bytes, the file has {file.size}",
                place=file.name,
                expected="a whole file",
            )
        data = handles.read(file.path, file.name, 8, length)
    place = f"{file.name}, safetensors header"
    header = parse(decode(data, place), place)
    if not isinstance(header, dict):
        raise CaptureError(f"the header is {type_name(header)}", place=place, expected="an object")
    return header, 8 + length


def _entry(entry: Any, size: int, place: str) -> tuple[str, tuple[int, ...], int, int]:
    if not isinstance(entry, dict) or set(entry) != {"dtype", "shape", "data_offsets"}:
        raise CaptureError(
            "the description of this tensor is damaged",
            place=place,
            expected="dtype, shape and data_offsets",
        )
    dtype, shape, offsets = entry["dtype"], entry["shape"], entry["data_offsets"]
    if type(dtype) is not str or not _sizes(shape) or len(shape) > AXES_LIMIT:
        raise CaptureError("type or shape of this tensor is damaged", place=place)
    if not _sizes(offsets) or len(offsets) != 2 or not offsets[0] <= offsets[1] <= size:
        raise CaptureError(
            "the offsets of this tensor are out of range",
            place=place,
            expected=f"begin <= end <= {size}, the bytes after the header",
        )
    return dtype, tuple(shape), offsets[0], offsets[1]


def _sizes(value: Any) -> bool:
    return isinstance(value, list) and all(type(n) is int and 0 <= n < 2**63 for n in value)


def _metadata(value: Any, name: str) -> dict[str, str]:
    if isinstance(value, dict) and all(type(text) is str for text in value.values()):
        return value
    raise CaptureError(
        "the metadata is damaged", place=f"{name}, __metadata__", expected="a map of texts"
    )


def _check_cover(spans: list[tuple[int, int, str]], size: int, name: str) -> None:
    reached = 0
    before = ""
    for begin, end, tensor in sorted(spans):
        if begin < reached:
            raise CaptureError(
                f"the bytes of {shorten(tensor)} and {shorten(before)} overlap",
                place=f"{name}, {shorten(tensor)}",
                expected=f"a start at byte {reached} after the header",
            )
        if begin > reached:
            raise CaptureError(
                f"{begin - reached} bytes before this tensor belong to none",
                place=f"{name}, {shorten(tensor)}",
            )
        reached, before = end, tensor
    if reached != size:
        raise CaptureError(f"{size - reached} bytes after the last tensor", place=name)
