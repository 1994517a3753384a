"""Finished row files put together: several arrays in one .npz or one .safetensors file."""

from __future__ import annotations

import json
import shutil
import zipfile
from collections.abc import Mapping
from pathlib import Path

from specdist.recording.row_file import HEADER_BYTES, RowFile


def pack_npz(path: Path, members: Mapping[str, RowFile]) -> None:
    """The row files as members of an uncompressed .npz; they are removed."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED, allowZip64=True) as archive:
        for name, file in members.items():
            archive.write(file.path, f"{name}.npy")
    _remove(members)


def pack_safetensors(path: Path, members: Mapping[str, RowFile]) -> None:
    """The row files as float32 tensors of a safetensors file; they are removed."""
    header: dict[str, object] = {}
    offset = 0
    for name, file in members.items():
        size = 4 * file.count * file.width
        shape = [file.count, file.width]
        header[name] = {"dtype": "F32", "shape": shape, "data_offsets": [offset, offset + size]}
        offset += size
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with path.open("wb") as packed:
        packed.write(len(text).to_bytes(8, "little") + text)
        for file in members.values():
            with file.path.open("rb") as rows:
                rows.seek(HEADER_BYTES)
                shutil.copyfileobj(rows, packed)
    _remove(members)


def _remove(members: Mapping[str, RowFile]) -> None:
    for file in members.values():
        file.path.unlink()
