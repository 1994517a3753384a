"""Builders of capture files, also of broken ones, and one way to read them."""

from __future__ import annotations

import io
import json
import pickle
import struct
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from specdist.errors import SpecdistError
from specdist.model.capture import Capture, Step, Unreadable
from specdist.model.row import FloatValues, NumberFormat, PointMass, RationalValues, Row
from specdist.model.settings import ReadingSettings
from specdist.readers import open_captures, open_pair

ROOT = Path(__file__).parent
HF = (ROOT / "data" / "hf", ROOT.parent / "sample_inputs" / "transformers")


def hf(name: str) -> str:
    """A sample that transformers and torch wrote."""
    return str(next(folder / name for folder in HF if (folder / name).exists()))


def npy(array: np.ndarray, descr: str | None = None, **options: Any) -> bytes:
    buffer = io.BytesIO()
    np.save(buffer, array, **options)
    data = buffer.getvalue()
    if descr is None:
        return data
    old = repr(np.lib.format.dtype_to_descr(array.dtype)).encode()
    header = data[10 : 10 + int.from_bytes(data[8:10], "little")]
    changed = header.replace(old, repr(descr).encode(), 1).rstrip()
    return data[:10] + changed.ljust(len(header) - 1) + b"\n" + data[10 + len(header) :]


def safetensors(
    tensors: Mapping[str, tuple[str, np.ndarray]], metadata: Mapping[str, str] | None = None
) -> bytes:
    header: dict[str, Any] = {} if metadata is None else {"__metadata__": dict(metadata)}
    data = b""
    for name, (dtype, array) in tensors.items():
        part = np.ascontiguousarray(array).tobytes()
        header[name] = {
            "dtype": dtype,
            "shape": list(array.shape),
            "data_offsets": [len(data), len(data) + len(part)],
        }
        data += part
    return raw_safetensors(header, data)


def raw_safetensors(header: Any, data: bytes = b"", length: int | None = None) -> bytes:
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return struct.pack("<Q", len(text) if length is None else length) + text + data


def zipped(members: Mapping[str, bytes], deflate: bool = False) -> bytes:
    buffer = io.BytesIO()
    method = zipfile.ZIP_DEFLATED if deflate else zipfile.ZIP_STORED
    with zipfile.ZipFile(buffer, "w", method) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return buffer.getvalue()


def npz(arrays: Mapping[str, np.ndarray], deflate: bool = False) -> bytes:
    return zipped({f"{name}.npy": npy(array) for name, array in arrays.items()}, deflate)


class TorchPickle:
    """Writes the pickle of a torch file opcode by opcode; no torch is needed."""

    def __init__(self) -> None:
        self.data = b"\x80\x02"

    def add(self, *parts: bytes) -> TorchPickle:
        self.data += b"".join(parts)
        return self

    def text(self, text: str) -> TorchPickle:
        raw = text.encode()
        return self.add(b"X", struct.pack("<I", len(raw)), raw)

    def number(self, value: int) -> TorchPickle:
        raw = value.to_bytes(16, "little", signed=True)
        return self.add(b"\x8a\x10", raw)

    def sizes(self, values: Sequence[int]) -> TorchPickle:
        self.add(b"(")
        for value in values:
            self.number(value)
        return self.add(b"t")

    def tensor(
        self,
        kind: str,
        key: str,
        count: int,
        offset: int,
        shape: Sequence[int],
        strides: Sequence[int],
    ) -> TorchPickle:
        self.add(b"ctorch._utils\n_rebuild_tensor_v2\n((").text("storage")
        self.add(f"ctorch\n{kind}\n".encode()).text(key).text("cuda:0").number(count)
        self.add(b"tQ").number(offset).sizes(shape).sizes(strides)
        return self.add(b"\x89ccollections\nOrderedDict\n)RtR")

    def done(self) -> bytes:
        return self.data + b"."


def torch_file(
    pickled: bytes, storages: Mapping[str, bytes], stem: str = "archive", order: str = "little"
) -> bytes:
    members = {f"{stem}/data.pkl": pickled, f"{stem}/byteorder": order.encode()}
    members |= {f"{stem}/data/{key}": data for key, data in storages.items()}
    return zipped({**members, f"{stem}/version": b"3\n"})


def evil_pickle(marker: Path) -> bytes:
    """A pickle that creates ``marker`` in whoever unpickles it."""
    return pickle.dumps(_Evil(str(marker)), protocol=2)


class _Evil:
    def __init__(self, marker: str) -> None:
        self.marker = marker

    def __reduce__(self) -> tuple[Any, ...]:
        import os

        return (os.system, (f"touch {self.marker}",))


def values(row: Row) -> list[Any]:
    """The numbers of a row: rationals as they are, floats widened exactly."""
    if isinstance(row.values, RationalValues):
        return list(row.values.values)
    assert not isinstance(row.values, PointMass)
    return floats(row).tolist()


def floats(row: Row) -> np.ndarray:
    assert isinstance(row.values, FloatValues)
    array = row.values.array
    if row.numbers is NumberFormat.BFLOAT16:
        assert array.dtype == np.uint16
        return (array.astype(np.uint32) << 16).view(np.float32).astype(np.float64)
    return array.astype(np.float64)


def read_pair(target: str | Path, draft: str | Path, **reading: Any) -> tuple[Capture, list[Step]]:
    capture = open_pair(str(target), str(draft), ReadingSettings(**reading))
    return capture, list(capture.steps())


def read_one(path: str | Path, **reading: Any) -> tuple[Capture, list[Step]]:
    """The capture in a file; what makes it unreadable is raised as the error it was."""
    (found,) = open_captures([str(path)], ReadingSettings(**reading))
    if isinstance(found, Unreadable):
        error = SpecdistError(
            found.message, place=found.place, expected=found.expected, advice=found.advice
        )
        error.ident = found.ident
        raise error
    return found, list(found.steps())


def write(folder: Path, name: str, data: bytes | str) -> str:
    path = folder / name
    path.write_bytes(data.encode() if isinstance(data, str) else data)
    return str(path)
