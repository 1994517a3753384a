"""Two dumps, two answers, or one of each, as the two sides of one capture."""

from __future__ import annotations

import os
from typing import Any, Literal, NamedTuple

from specdist.errors import CaptureError
from specdist.model.capture import Capture, Vocab
from specdist.model.settings import ReadingSettings
from specdist.readers.content import Format
from specdist.readers.engine_files.engine_file import EngineFile
from specdist.readers.engine_opening import (
    engine_archive,
    engine_binary,
    engine_document,
    engine_lines,
)
from specdist.readers.identification import (
    JSON,
    first_line,
    identified,
    only_json,
    parsed,
    source_of,
)
from specdist.readers.json_pair import read_json_pair, read_one_side
from specdist.readers.sources import ByteSource, LocalFile, StandardInput, split_name

Label = Literal["target", "draft"]


class SideSource(NamedTuple):
    """One side as it was named. ``document`` is the parsed text of a JSON document; ``engine`` is
    set where an engine wrote the file."""

    source: ByteSource
    kind: Format
    name: str | None
    document: Any = None
    engine: EngineFile | None = None


def side_source(text: str, reading: ReadingSettings) -> SideSource:
    """What one name of the command line stands for. Raises CaptureError."""
    path, name = split_name(text)
    source, kind = identified(_source(path, reading), reading)
    if kind is Format.JSON_LINES:
        engine = engine_lines(source, first_line(source), reading)
        return SideSource(source, kind, name, None, engine)
    if kind is Format.JSON:
        document = parsed(source)
        return SideSource(
            source, kind, name, document, engine_document(document, source.name, reading)
        )
    if isinstance(source, StandardInput) or not isinstance(source, LocalFile):
        raise only_json(source)
    engine = engine_binary(source, kind, reading)
    if engine is None and name is None:
        engine = engine_archive(source, kind, reading)
    return SideSource(source, kind, name, None, engine)


def _source(path: str, reading: ReadingSettings) -> ByteSource:
    """The file of that name; for llama-debug also the one with logits in a folder."""
    if reading.reader == Format.LLAMA_DEBUG and os.path.isdir(path):
        from specdist.readers.engine_files.llama_debug import debug_file

        return debug_file(path)
    return source_of(path)


def open_sides(target: str, draft: str, reading: ReadingSettings, vocab: Vocab | None) -> Capture:
    """The capture of two named sides. Raises SpecdistError."""
    ours, theirs = side_source(target, reading), side_source(draft, reading)
    if ours.engine is not None or theirs.engine is not None:
        from specdist.readers.engine_files.pairing import engine_capture

        return engine_capture(
            _engine(ours, "target", reading), _engine(theirs, "draft", reading), reading, vocab
        )
    if ours.kind in JSON and theirs.kind in JSON:
        return read_json_pair(
            _json_side(ours, "target", reading, vocab), _json_side(theirs, "draft", reading, vocab)
        )
    for side, name in ((ours, target), (theirs, draft)):
        if side.kind in JSON or not isinstance(side.source, LocalFile):
            raise _two_kinds(name)
    from specdist.readers.dumps import open_dump_pair

    files = [(s.source, s.kind, s.name) for s in (ours, theirs) if isinstance(s.source, LocalFile)]
    return open_dump_pair(files[0], files[1], reading, vocab)


def _engine(side: SideSource, label: Label, reading: ReadingSettings) -> EngineFile:
    """One side as an engine's file; a dump of arrays becomes one."""
    if side.engine is not None:
        if side.name is not None:
            raise CaptureError(
                f"{side.engine.title} holds no tensor {side.name[:40]!r}",
                place=side.source.name,
                expected="FILE without ::NAME",
            )
        return side.engine
    if side.kind in JSON or not isinstance(side.source, LocalFile):
        raise _two_kinds(side.source.name)
    from specdist.readers.dumps import open_archive
    from specdist.readers.engine_files.dump_side import dump_side
    from specdist.readers.sides import make_side
    from specdist.readers.tensor_names import pick

    archive = open_archive(side.source, side.kind, reading.reader is not None)
    return dump_side(make_side(archive, pick(archive, side.name, label), label, reading))


def _two_kinds(place: str) -> CaptureError:
    return CaptureError(
        "one side is JSON, the other an array file",
        place=place,
        expected="two dumps of a kind",
        advice="write both sides into one JSON capture, or save both as arrays",
    )


def _json_side(
    side: SideSource, label: Label, reading: ReadingSettings, vocab: Vocab | None
) -> Capture:
    if side.name is not None:
        raise CaptureError(
            f"JSON holds no tensor {side.name[:40]!r}",
            place=side.source.name,
            expected="FILE without ::NAME",
        )
    return read_one_side(side.source, side.document, label, reading, vocab)
