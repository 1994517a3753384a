"""Zip files: .npz (members are .npy arrays) or torch (a pickle and raw storages)."""

from __future__ import annotations

from specdist.errors import CaptureError
from specdist.readers.content import Format
from specdist.readers.sources import LocalFile
from specdist.readers.tensor import Archive


def read_zip(file: LocalFile, kind: Format) -> Archive:
    raise CaptureError("zip archives are not read yet", place=file.name)
