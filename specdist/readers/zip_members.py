"""The members of a zip file, checked against one another before any of them is read.

A member is stored or deflated; it may not be encrypted, may not share bytes with another member,
and may not give a byte more or less than its directory entry claims.
"""

from __future__ import annotations

import zipfile
import zlib
from dataclasses import dataclass

from specdist.errors import CaptureError
from specdist.readers.naming import first_repeated, shorten
from specdist.readers.sources import LocalFile
from specdist.readers.storage import DeflatedRange, FileRange, Handles, Storage

MEMBER_LIMIT = 100_000
DIRECTORY_LIMIT = 64 * 2**20
CHECKSUM_BYTES = 8 * 2**20
"""Stored members up to this size have their checksum verified when the file is opened."""

_LOCAL_HEADER = 30


@dataclass(frozen=True, slots=True)
class Member:
    """One member: its name inside the archive and where its bytes come from."""

    name: str
    storage: Storage


def read_members(file: LocalFile) -> tuple[Member, ...]:
    """All members that are no folders. Raises CaptureError."""
    try:
        with zipfile.ZipFile(file.path) as archive:
            infos = [info for info in archive.infolist() if not info.is_dir()]
    except (zipfile.BadZipFile, zipfile.LargeZipFile) as error:
        raise CaptureError(_reason(error), place=file.name, expected="a whole zip file") from None
    except OSError as error:
        reason = (error.strerror or "input/output error").lower()
        raise CaptureError(f"cannot be read: {reason}", place=file.name) from None
    except (ValueError, OverflowError, NotImplementedError, EOFError, LookupError):
        raise CaptureError("the zip directory is damaged", place=file.name) from None
    if len(infos) > MEMBER_LIMIT:
        raise CaptureError(f"a zip file of {len(infos)} members", place=file.name)
    names = [info.filename for info in infos]
    if len(set(names)) < len(names):
        twice = first_repeated(names)
        raise CaptureError(f"two members are named {shorten(twice)!r}", place=file.name)
    with Handles() as handles:
        ranges = [_range(file, info, handles) for info in infos]
        _check_apart(ranges, file.name)
        return tuple(
            Member(info.filename, _storage(file, info, start, handles))
            for info, (start, _, _) in zip(infos, ranges, strict=True)
        )


def _reason(error: Exception) -> str:
    text = str(error).lower()
    if "not a zip" in text:
        return "the zip directory is missing: the file ends too early"
    return "the zip directory is damaged"


def _range(file: LocalFile, info: zipfile.ZipInfo, handles: Handles) -> tuple[int, int, str]:
    """Where the member's bytes start and end, from its local header."""
    place = f"{file.name}, {shorten(info.filename)}"
    if info.flag_bits & 1:
        raise CaptureError("this member is encrypted", place=place)
    if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise CaptureError(
            f"compression method {info.compress_type} is not read",
            place=place,
            expected="stored or deflated members",
        )
    if info.compress_type == zipfile.ZIP_STORED and info.compress_size != info.file_size:
        raise CaptureError(
            f"a stored member of {info.compress_size} bytes claims {info.file_size}", place=place
        )
    if info.header_offset < 0 or info.header_offset + _LOCAL_HEADER > file.size:
        raise CaptureError("this member lies outside the file", place=place)
    header = handles.read(file.path, file.name, info.header_offset, _LOCAL_HEADER)
    if header[:4] != b"PK\x03\x04":
        raise CaptureError("the local header of this member is damaged", place=place)
    extra = int.from_bytes(header[26:28], "little") + int.from_bytes(header[28:30], "little")
    start = info.header_offset + _LOCAL_HEADER + extra
    end = start + info.compress_size
    if end > file.size:
        raise CaptureError(
            "this member lies outside the file", place=place, expected=f"an end before {file.size}"
        )
    return start, end, place


def _check_apart(ranges: list[tuple[int, int, str]], name: str) -> None:
    reached = 0
    for start, end, place in sorted(ranges):
        if start < reached:
            raise CaptureError("two members share the same bytes", place=place)
        reached = end


def _storage(file: LocalFile, info: zipfile.ZipInfo, start: int, handles: Handles) -> Storage:
    place = f"{file.name}, {shorten(info.filename)}"
    if info.compress_type == zipfile.ZIP_DEFLATED:
        return DeflatedRange(file.path, place, start, info.compress_size, info.file_size, info.CRC)
    if info.file_size <= CHECKSUM_BYTES:
        data = handles.read(file.path, place, start, info.file_size)
        if zlib.crc32(data) != info.CRC:
            raise CaptureError("the checksum of this member is wrong", place=place)
    return FileRange(file.path, place, start, info.file_size)
