"""What a source is: its format by content, and its parsed text where it is JSON."""

from __future__ import annotations

from itertools import islice
from typing import Any

from specdist.errors import CaptureError
from specdist.model.settings import ReadingSettings
from specdist.readers.content import Format, forced_format, is_gzip, recognise
from specdist.readers.jsonl_capture import is_lines, line_values
from specdist.readers.refusals import zipped_refusal
from specdist.readers.sources import (
    ByteSource,
    Gunzipped,
    LocalFile,
    head_of,
    local_file,
    read_document_bytes,
    standard_input,
)
from specdist.readers.strict_json import decode, parse

JSON = (Format.JSON, Format.JSON_LINES)


def source_of(name: str) -> ByteSource:
    """The file of that name, or standard input for ``-``. Raises CaptureError."""
    return standard_input() if name == "-" else local_file(name)


def identified(source: ByteSource, reading: ReadingSettings) -> tuple[ByteSource, Format]:
    """The source, unpacked where it is gzip, and its format. Raises CaptureError."""
    head = head_of(source)
    zipped = is_gzip(head)
    if zipped:
        source = Gunzipped(source)
        head = head_of(source)
    forced = None if reading.reader is None else forced_format(reading.reader)
    if forced is not None:
        kind = forced
    else:
        size = source.size if isinstance(source, LocalFile) else len(head)
        kind = recognise(head, source.name, size)
        if kind is Format.JSON and is_lines(source):
            kind = Format.JSON_LINES
        if reading.reader is not None and kind not in JSON:
            raise CaptureError(
                f"{reading.reader} is a format of JSON, and this is {kind.value}",
                place=source.name,
                expected="JSON or JSON lines",
                advice="leave --reader out: the content says what the file is",
            )
    if zipped and kind not in JSON:
        raise zipped_refusal(head, kind.value, source.name)
    return source, kind


def parsed(source: ByteSource) -> Any:
    """The JSON document of a source. Raises CaptureError."""
    return parse(decode(read_document_bytes(source), source.name), source.name)


def first_line(source: ByteSource) -> Any:
    """The value of the first line of JSON lines; None where there is none."""
    return next((value for _, value in islice(line_values(source), 1)), None)


def only_json(source: ByteSource) -> CaptureError:
    """The error for an array file that comes as a stream."""
    return CaptureError(
        "array files are read by offset, which a stream cannot do",
        place=source.name,
        expected="JSON or JSON lines",
        advice="save it to a file and pass its name",
    )
