"""JSON lines: one step (or one whole capture) a line, after an optional header line.

The header is a line without rows; what it says holds for the lines after it. Files up to
``EAGER_BYTES`` are read when they are opened, so that a broken line makes the file unreadable
before anything is checked; larger ones are streamed, and a broken line ends the run.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import IO, Any, Literal

from specdist.errors import CaptureError
from specdist.model.capture import Capture, Step, Vocab
from specdist.model.settings import ReadingSettings
from specdist.readers.json_capture import (
    Header,
    read_header,
    read_steps,
    step_reading,
    words_facts,
)
from specdist.readers.json_recognition import HEADER_KEYS, looks_like_capture, not_a_capture
from specdist.readers.sources import (
    DOCUMENT_LIMIT,
    ByteSource,
    LocalFile,
    read_checked,
    too_large,
)
from specdist.readers.strict_json import decode, parse

EAGER_BYTES = 64 * 2**20


Side = Literal["target", "draft"]


def is_lines(source: ByteSource) -> bool:
    """Whether the first line is a JSON value by itself and more than blank space follows it."""
    with source.open() as stream:
        line = b"\n"
        while line and not line.strip():
            line = _line(stream, source.name)
        after = b"\n"
        while after and not after.strip():
            after = read_checked(stream, 4096, source.name, line=True)
    if not after:
        return False
    try:
        parse(decode(line, source.name), source.name)
    except CaptureError:
        return False
    return True


def read_lines(
    source: ByteSource, reading: ReadingSettings, vocab: Vocab | None, only: Side | None = None
) -> Capture:
    """The capture in a source of JSON lines. Raises SpecdistError, at once or while iterating."""
    small = not isinstance(source, LocalFile) or source.size <= EAGER_BYTES
    steps = tuple(_steps(source, reading, vocab, only)) if small else None
    header = _first_header(source)
    facts = [("reader", "json lines"), *words_facts(header, reading)]
    if steps is not None:
        facts.insert(1, ("steps", str(len(steps))))
    return Capture(
        source=source.name,
        reader="jsonl",
        steps=(lambda: _steps(source, reading, vocab, only))
        if steps is None
        else lambda: iter(steps),
        facts=tuple(facts),
        step_count=None if steps is None else len(steps),
        vocab=vocab or header.vocab,
    )


def is_header(value: Any) -> bool:
    """Whether a line says something about the lines after it and holds no step itself."""
    return isinstance(value, dict) and "schema" in value and set(value) <= set(HEADER_KEYS)


def _steps(
    source: ByteSource, reading: ReadingSettings, vocab: Vocab | None, only: Side | None
) -> Iterator[Step]:
    header = Header()
    count = 0
    for number, value in line_values(source):
        place = f"{source.name}, line {number}"
        if is_header(value):
            header = read_header(value, place, header)
            continue
        if not looks_like_capture(value):
            raise not_a_capture(value, place) if count == 0 else _no_step(place)
        own = read_header(value, place, header)
        steps = read_steps(value, place, step_reading(own, place, reading, vocab, only), count)
        count += len(steps)
        yield from steps


def _no_step(place: str) -> CaptureError:
    return CaptureError(
        "this line is not a step", place=place, expected="an object with target and draft rows"
    )


def _first_header(source: ByteSource) -> Header:
    for number, value in line_values(source):
        if isinstance(value, dict):
            return read_header(value, f"{source.name}, line {number}", Header())
        break
    return Header()


def line_values(source: ByteSource, forget: Collection[str] = ()) -> Iterator[tuple[int, Any]]:
    """Number and JSON value of every line that is not blank, without the members that are to be
    forgotten (see `strict_json.parse`). Raises CaptureError."""
    with source.open() as stream:
        number = 0
        while line := _line(stream, source.name):
            number += 1
            text = decode(line, f"{source.name}, line {number}") if line.strip() else ""
            if text.strip():
                yield number, parse(text.rstrip(), source.name, number, forget)


def _line(stream: IO[bytes], name: str) -> bytes:
    line = read_checked(stream, DOCUMENT_LIMIT + 1, name, line=True)
    if len(line) > DOCUMENT_LIMIT:
        raise too_large(name)
    return line
