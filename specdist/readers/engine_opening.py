"""Files that engines write, from a source to an `EngineFile`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

from specdist.errors import CaptureError, NotACaptureError
from specdist.model.settings import ReadingSettings
from specdist.readers.content import Format
from specdist.readers.engine_files.engine_file import AnswerFormat, EngineFile, EngineRow
from specdist.readers.engine_files.registry import answer_format, is_engine_format, lines_format
from specdist.readers.json_recognition import looks_like_capture
from specdist.readers.jsonl_capture import is_header, line_values
from specdist.readers.sources import ByteSource, LocalFile

Value = tuple[int, Any]


def engine_document(value: Any, name: str, reading: ReadingSettings) -> EngineFile | None:
    """The engine's file in a JSON document; None for a capture, and for what no engine writes.

    Raises CaptureError for an answer that is broken or must be refused.
    """
    named = is_engine_format(reading.reader)
    if looks_like_capture(value) and not named:
        return None
    form = answer_format(value, reading.reader)
    if form is None and named:
        raise CaptureError(
            f"{reading.reader} is a format of JSON lines, and this is one document",
            place=name,
            expected="a piece of the stream in every line",
            advice="leave --reader out: the content says what the file is",
        )
    return None if form is None else form.read(value, name, reading)


def engine_lines(source: ByteSource, first: Any, reading: ReadingSettings) -> EngineFile | None:
    """The engine's file in JSON lines that begin with ``first``: a table, or an answer a line."""
    if (looks_like_capture(first) or is_header(first)) and not is_engine_format(reading.reader):
        return None

    def values() -> Iterator[Value]:
        return line_values(source)

    table = lines_format(first, reading.reader)
    if table is not None:
        return table.read(values, source.name, reading)
    form = answer_format(first, reading.reader)
    return None if form is None else _answers(values, form, source.name, reading)


def engine_binary(file: LocalFile, kind: Format, reading: ReadingSettings) -> EngineFile | None:
    """The engine's file in a binary format; None for arrays."""
    if kind is Format.KLD:
        from specdist.readers.engine_files.kld import open_kld

        return open_kld(file, reading)
    if kind is Format.GGUF:
        from specdist.readers.engine_files.llama_results import open_llama_results

        return open_llama_results(file, reading)
    if kind is Format.LLAMA_DEBUG:
        from specdist.readers.engine_files.llama_debug import open_llama_debug

        return open_llama_debug(file, reading)
    if kind is Format.PARQUET:
        from specdist.readers.engine_files.parquet import open_parquet

        return open_parquet(file, reading)
    return None


def engine_archive(file: LocalFile, kind: Format, reading: ReadingSettings) -> EngineFile | None:
    """The engine's file in an archive of tensors whose names tell the engine; None for others."""
    from specdist.readers.archive_contents import is_exllama
    from specdist.readers.dumps import open_archive

    if kind is Format.NPY:
        return None
    archive = open_archive(file, kind, reading.reader is not None)
    if not is_exllama(archive):
        return None
    from specdist.readers.engine_files.exllama import exllama_file

    return exllama_file(archive, reading)


def one_side_only(file: EngineFile) -> NotACaptureError:
    """The error for a file of one model where a capture is wanted."""
    return NotACaptureError(
        f"this holds rows of one model, and a capture has two: {file.title}",
        place=file.source,
        expected="the same text through the target and through the draft",
        advice=f"specdist check --target {file.source} --draft FILE (or the other way round); "
        "specdist explain dumps",
    )


def _answers(
    values: Callable[[], Iterator[Value]], form: AnswerFormat, name: str, reading: ReadingSettings
) -> EngineFile:
    """One answer a line, all of one format: every line brings its sequences."""
    files: list[EngineFile] = []
    for number, value in values():
        place = f"{name}, line {number}"
        if not form.recognises(value):
            raise CaptureError(
                f"this line is not {form.title}",
                place=place,
                expected="answers of one format, one a line",
            )
        files.append(form.read(value, place, reading))
    counts = [file.count for file in files]
    return replace(
        files[0],
        source=name,
        rows=lambda: _rows(files),
        count=None if None in counts else sum(count or 0 for count in counts),
        tokens=_tokens(files),
        warnings=tuple(dict.fromkeys(text for file in files for text in file.warnings)),
        shown=(("answers", str(len(files))), *files[0].shown),
        draft=None,
    )


def _rows(files: list[EngineFile]) -> Iterator[EngineRow]:
    base = 0
    for file in files:
        last = 0
        for row in file.rows():
            last = max(last, row.sequence + 1)
            yield replace(row, sequence=base + row.sequence)
        base += last


def _tokens(files: list[EngineFile]) -> dict[int, tuple[int, ...]]:
    found: dict[int, tuple[int, ...]] = {}
    base = 0
    for file in files:
        found |= {base + sequence: ids for sequence, ids in file.tokens.items()}
        base += max((row.sequence + 1 for row in file.rows()), default=0)
    return found
