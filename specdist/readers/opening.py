"""From names on the command line to captures: files, folders, standard input, pairs of dumps.

Nothing here imports numpy: the array readers are imported when an array file is met.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence

from specdist.errors import CaptureError, NotACaptureError, SpecdistError
from specdist.model.capture import Capture, Unreadable, Vocab
from specdist.model.settings import ReadingSettings
from specdist.readers.content import Format, forced_format
from specdist.readers.engine_opening import (
    engine_archive,
    engine_binary,
    engine_document,
    engine_lines,
    one_side_only,
)
from specdist.readers.folders import Entry, entries
from specdist.readers.identification import (
    JSON,
    first_line,
    identified,
    only_json,
    parsed,
    source_of,
)
from specdist.readers.json_capture import read_document
from specdist.readers.jsonl_capture import read_lines
from specdist.readers.meant_pair import meant_as_pair
from specdist.readers.pair_opening import open_sides, side_source
from specdist.readers.sources import ByteSource, LocalFile, split_name
from specdist.readers.vocab_file import load_vocab


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
    return open_sides(target, draft, reading, _vocab(reading))


def describe(source: str, reading: ReadingSettings) -> tuple[tuple[str, str], ...]:
    """What a file holds, for ``inspect``, also when it is one side only. Raises SpecdistError."""
    path, name = split_name(source)
    try:
        if name is None:
            return _open_source(source_of(path), reading, _vocab(reading)).facts
        refusal = CaptureError("this names one side", place=source)
    except CaptureError as error:
        refusal = error
    side = side_source(source, reading)
    if side.engine is not None:
        from specdist.readers.engine_files.facts import file_facts

        return (("reader", side.engine.reader), *file_facts(side.engine))
    if side.kind in JSON or not isinstance(side.source, LocalFile):
        raise refusal
    from specdist.readers.dumps import describe_archive

    return describe_archive(side.source, side.kind, side.name, reading)


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
        side = side_source(source, reading)
        if side.engine is not None:
            return name is None
        file, kind = side.source, side.kind
        if kind in JSON or not isinstance(file, LocalFile):
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
    return entry.problem or _open(entry.name, entry.named, reading, vocab, entry.trace)


def _open(
    name: str, named: bool, reading: ReadingSettings, vocab: Vocab | None, trace: bool = False
) -> Capture | Unreadable:
    try:
        return _open_trace(name, reading, vocab) if trace else _open_named(name, reading, vocab)
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


def _open_trace(name: str, reading: ReadingSettings, vocab: Vocab | None) -> Capture:
    from specdist.readers.traces.as_capture import trace_capture

    return trace_capture(name, reading, vocab)


def _open_named(name: str, reading: ReadingSettings, vocab: Vocab | None) -> Capture:
    return _open_source(source_of(name), reading, vocab)


def _open_source(source: ByteSource, reading: ReadingSettings, vocab: Vocab | None) -> Capture:
    source, kind = identified(source, reading)
    if kind is Format.JSON_LINES:
        engine = engine_lines(source, first_line(source), reading)
        if engine is None:
            return read_lines(source, reading, vocab)
    elif kind is Format.JSON:
        document = parsed(source)
        engine = engine_document(document, source.name, reading)
        if engine is None:
            return read_document(document, source.name, reading, vocab)
    elif not isinstance(source, LocalFile):
        raise only_json(source)
    else:
        engine = engine_binary(source, kind, reading) or engine_archive(source, kind, reading)
        if engine is None:
            from specdist.readers.dumps import open_dump

            return open_dump(source, kind, reading, vocab)
    if engine.draft is None:
        raise one_side_only(engine)
    from specdist.readers.engine_files.pairing import engine_capture

    return engine_capture(engine, engine.draft, reading, vocab)
