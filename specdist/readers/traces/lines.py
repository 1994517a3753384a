"""JSON lines with their numbers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from specdist.readers.sources import DOCUMENT_LIMIT, LocalFile, read_checked, too_large
from specdist.readers.strict_json import decode, parse


def json_lines(file: LocalFile) -> Iterator[tuple[int, Any]]:
    """Number and value of every line that is not blank. Raises CaptureError with the line."""
    with file.open() as stream:
        number = 0
        while line := read_checked(stream, DOCUMENT_LIMIT + 1, file.name, line=True):
            number += 1
            if len(line) > DOCUMENT_LIMIT:
                raise too_large(file.name)
            if line.strip():
                place = f"{file.name}, line {number}"
                yield number, parse(decode(line, place).rstrip(), file.name, first_line=number)
