"""From names on the command line to captures: files, folders, standard input, pairs of dumps.

Nothing here imports numpy: the array readers are imported when an array file is met.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from typing import Literal

from specdist.errors import CaptureError, NotACaptureError, SpecdistError
from specdist.model.capture import Capture, Unreadable, Vocab
from specdist.model.settings import ReadingSettings
from specdist.readers.content import Format, forced_format, is_gzip, recognise
from specdist.readers.folders import Entry, entries
from specdist.readers.json_capture import read_document
from specdist.readers.json_pair import read_json_pair, read_one_side
from specdist.readers.jsonl_capture import is_lines, read_lines
from specdist.readers.meant_pair import meant_as_pair
from specdist.readers.sources import (
    ByteSource,
    Gunzipped,
    LocalFile,
    StandardInput,
    head_of,
    local_file,
    read_document_bytes,
    split_name,
    standard_input,
)
from specdist.readers.strict_json import decode, parse
from specdist.readers.vocab_file import load_vocab

_JSON = (Format.JSON, Format.JSON_LINES)


def open_captures(
    sources: Sequence[str], reading: ReadingSettings
) -> Iterator[Capture | Unreadable]:
    """Captures of files, folders (sorted, hidden files skipped) and ``-`` for standard input.

    What cannot be opened is yielded as ``Unreadable``; ``counts`` is False only for content
    inside a folder that is not a capture. Raises SettingsError for unusable settings and
    CaptureError for a broken ``--vocab`` file; rows that turn out bad while they are streamed
    raise from the steps.
    """
    vocab = _vocab(reading)
    pair = meant_as_pair(sources, lambda source: _holds_one_side(source, reading))
    if pair is not None:
        yield pair
        return
    for source in sources:
        if source == "-":
            yield _open(source, True, reading, vocab)
            continue
        if split_name(source)[1] is not None:
            yield _one_side(source)
            continue
        for entry in entries(source):
            yield _open_entry(entry, reading, vocab)


def open_pair(target: str, draft: str, reading: ReadingSettings) -> Capture:
    """Target and draft rows of two dumps, or of two tensors of one archive (``FILE::NAME``).

    Raises CaptureError, ContextMismatchError, RowError or SettingsError; rows that turn out bad
    while they are streamed raise from the steps.
    """
    vocab = _vocab(reading)
    sources = [_side_source(name, reading) for name in (target, draft)]
    if all(kind in _JSON for _, kind, _ in sources):
        ours = _json_side(sources[0], "target", reading, vocab)
        theirs = _json_side(sources[1], "draft", reading, vocab)
        return read_json_pair(ours, theirs)
    for (source, kind, _), name in zip(sources, (target, draft), strict=True):
        if kind in _JSON or not isinstance(source, LocalFile):
            raise CaptureError(
                "one side is JSON, the other an array file",
                place=name,
                expected="two dumps of a kind",
                advice="write both sides into one JSON capture, or save both as arrays",
            )
    from specdist.readers.dumps import open_dump_pair

    files = [(s, k, n) for s, k, n in sources if isinstance(s, LocalFile)]
    return open_dump_pair(files[0], files[1], reading, vocab)


def describe(source: str, reading: ReadingSettings) -> tuple[tuple[str, str], ...]:
    """What a file holds, for ``inspect``, also when it is one side only. Raises SpecdistError."""
    path, name = split_name(source)
    try:
        if name is None:
            return _open_source(_source(path), reading, _vocab(reading)).facts
        refusal = CaptureError("this names one side", place=source)
    except CaptureError as error:
        refusal = error
    file, kind, name = _side_source(source, reading)
    if kind in _JSON or not isinstance(file, LocalFile):
        raise refusal
    from specdist.readers.dumps import describe_archive

    return describe_archive(file, kind, name, reading)


def _vocab(reading: ReadingSettings) -> Vocab | None:
    if reading.reader is not None:
        forced_format(reading.reader)
    return load_vocab(reading.vocab) if reading.vocab is not None else None


def _holds_one_side(source: str, reading: ReadingSettings) -> bool:
    """Whether an array file, or a tensor named in it, is one side of a pair and no capture."""
    path, name = split_name(source)
    if source == "-" or not os.path.isfile(path):
        return False
    try:
        file, kind = _identify(_source(path), reading)
        if kind in _JSON or not isinstance(file, LocalFile):
            return False
        from specdist.readers.dumps import open_archive
        from specdist.readers.tensor_names import is_one_side

        return name is not None or is_one_side(open_archive(file, kind, reading.reader is not None))
    except SpecdistError:
        return False


def _one_side(source: str) -> Unreadable:
    return Unreadable(
        source,
        "one tensor is one side, a capture has two",
        source,
        "FILE, or two sides",
        "pass the two sides as --target FILE[::NAME] and --draft FILE[::NAME]",
    )


def _open_entry(
    entry: Entry, reading: ReadingSettings, vocab: Vocab | None
) -> Capture | Unreadable:
    return entry.problem or _open(entry.name, entry.named, reading, vocab)


def _open(
    name: str, named: bool, reading: ReadingSettings, vocab: Vocab | None
) -> Capture | Unreadable:
    try:
        return _open_source(_source(name), reading, vocab)
    except SpecdistError as error:
        counts = named or not isinstance(error, NotACaptureError)
        return Unreadable(
            name,
            error.message,
            error.place or name,
            error.expected,
            error.advice,
            counts,
            error.ident,
        )


def _source(name: str) -> ByteSource:
    return standard_input() if name == "-" else local_file(name)


def _open_source(source: ByteSource, reading: ReadingSettings, vocab: Vocab | None) -> Capture:
    source, kind = _identify(source, reading)
    if kind is Format.JSON_LINES:
        return read_lines(source, reading, vocab)
    if kind is Format.JSON:
        return read_document(_parsed(source), source.name, reading, vocab)
    if not isinstance(source, LocalFile):
        raise _only_json(source)
    from specdist.readers.dumps import open_dump

    return open_dump(source, kind, reading, vocab)


def _identify(source: ByteSource, reading: ReadingSettings) -> tuple[ByteSource, Format]:
    head = head_of(source)
    zipped = is_gzip(head)
    if zipped:
        source = Gunzipped(source)
        head = head_of(source)
    if reading.reader is not None:
        kind = forced_format(reading.reader)
    else:
        size = source.size if isinstance(source, LocalFile) else len(head)
        kind = recognise(head, source.name, size)
        if kind is Format.JSON and is_lines(source):
            kind = Format.JSON_LINES
    if zipped and kind not in _JSON:
        raise CaptureError(
            f"{kind.value} inside gzip", place=source.name, advice="unpack it with gunzip first"
        )
    return source, kind


def _parsed(source: ByteSource) -> object:
    return parse(decode(read_document_bytes(source), source.name), source.name)


def _only_json(source: ByteSource) -> CaptureError:
    return CaptureError(
        "array files are read by offset, which a stream cannot do",
        place=source.name,
        expected="JSON or JSON lines",
        advice="save it to a file and pass its name",
    )


SideSource = tuple[ByteSource, Format, str | None]


def _side_source(text: str, reading: ReadingSettings) -> SideSource:
    path, name = split_name(text)
    source, kind = _identify(_source(path), reading)
    if isinstance(source, StandardInput) and kind not in _JSON:
        raise _only_json(source)
    return source, kind, name


def _json_side(
    side: SideSource,
    label: Literal["target", "draft"],
    reading: ReadingSettings,
    vocab: Vocab | None,
) -> Capture:
    source, kind, name = side
    if name is not None:
        raise CaptureError(
            f"JSON holds no tensor {name[:40]!r}", place=source.name, expected="FILE without ::NAME"
        )
    value = None if kind is Format.JSON_LINES else _parsed(source)
    return read_one_side(source, value, label, reading, vocab)
