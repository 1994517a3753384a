"""Zip files: .npz (members are .npy arrays) or torch (a pickle and raw storages)."""

from __future__ import annotations

from collections.abc import Sequence

from specdist.errors import CaptureError, NotACaptureError
from specdist.readers.content import Format
from specdist.readers.naming import listing
from specdist.readers.npz import read_npz
from specdist.readers.sources import LocalFile
from specdist.readers.tensor import Archive
from specdist.readers.torch_zip import read_torch, torch_list
from specdist.readers.zip_members import read_members


def read_zip(file: LocalFile, forced: bool, kind: Format) -> Archive:
    """The tensors of a zip file; its members say which format it is. Raises CaptureError, and
    NotACaptureError for a zip file that is neither."""
    members = read_members(file)
    names = [member.name for member in members]
    if _is_torch(names):
        found = Format.TORCH
    elif any(name.endswith(".npy") for name in names):
        found = Format.NPZ
    else:
        raise NotACaptureError(
            f"this zip file is neither .npz nor torch: {listing(names, 4)}",
            place=file.name,
            advice="unpack it and pass the files inside",
        )
    if forced and found is not kind:
        raise CaptureError(f"this is {found.value}, not {kind.value}", place=file.name)
    return read_torch(file.name, members) if found is Format.TORCH else read_npz(file.name, members)


def saved_list(file: LocalFile) -> list[int] | None:
    """The whole numbers of a list that torch saved; None for every other file."""
    members = read_members(file)
    return torch_list(file.name, members) if _is_torch([m.name for m in members]) else None


def _is_torch(names: Sequence[str]) -> bool:
    return any(name == "data.pkl" or name.endswith("/data.pkl") for name in names)
