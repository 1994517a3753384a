"""From a name on the command line to recorded outputs: what the file is, and what it holds.

A file named ``.txt`` is plain text whatever it holds, ``.json``, ``.jsonl`` and ``.ndjson`` must be
JSON, and others are what their content is. Plain text is one output, character for character.
"""

from __future__ import annotations

import os
from dataclasses import replace
from typing import Any

from specdist.errors import CaptureError, SpecdistError
from specdist.model.settings import ReadingSettings
from specdist.model.texts import Output, Recorded
from specdist.readers.content import is_gzip
from specdist.readers.engine_files.engine_file import EngineFile
from specdist.readers.engine_files.json_node import Node
from specdist.readers.sources import LocalFile, local_file, read_document_bytes
from specdist.readers.strict_json import parse
from specdist.readers.texts.documents import outputs_in
from specdist.readers.texts.engine_values import with_values

_PLAIN = (".txt", ".text", ".md")
_JSON = (".json", ".jsonl", ".ndjson")
_CONTROL = frozenset(range(32)) - {7, 8, 9, 10, 11, 12, 13, 27}
_EXPECTED = "plain text in UTF-8, JSON with texts or token ids, an engine's answers, or steps.jsonl"


def open_texts(name: str, reading: ReadingSettings) -> Recorded:
    """The outputs recorded in a file, or in a folder of recorded steps. Raises CaptureError."""
    if os.path.isdir(name):
        return _trace(name, reading)
    file = local_file(name)
    data = read_document_bytes(file)
    if not data:
        raise CaptureError("the file is empty", place=name, expected=_EXPECTED)
    text = _decoded(data, name)
    ending = os.path.splitext(name)[1].lower()
    begins = text.lstrip("\ufeff \t\r\n")[:1] in ("{", "[")
    if ending in _PLAIN or (ending not in _JSON and not begins):
        return _plain(name, text)
    try:
        found = _json(file, text.removeprefix("\ufeff"), reading)
    except CaptureError:
        if ending in _JSON:
            raise
        return replace(_plain(name, text), form="plain text (it begins as JSON does and is none)")
    if found is not None:
        return found
    if ending not in _JSON:
        return _plain(name, text)
    raise CaptureError(
        "there is no text and there are no token ids in this JSON", place=name, expected=_EXPECTED
    )


def _decoded(data: bytes, name: str) -> str:
    if is_gzip(data):
        raise CaptureError("this file is gzip", place=name, expected=_EXPECTED, advice="unpack it")
    for at, byte in enumerate(data[:65536]):
        if byte in _CONTROL:
            raise CaptureError(
                f"this is a binary file: byte 0x{byte:02x} stands at {at}",
                place=name,
                expected=_EXPECTED,
                advice="rows of numbers go to --target",
            )
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise CaptureError(
            f"byte 0x{data[error.start]:02x} is not UTF-8",
            place=f"{name}, line {line}, byte {error.start}",
            expected=_EXPECTED,
        ) from None


def _plain(name: str, text: str) -> Recorded:
    return Recorded(name, "plain text", (Output(name, text),))


def _json(file: LocalFile, text: str, reading: ReadingSettings) -> Recorded | None:
    """The outputs of a JSON document or of JSON lines; None for a shape that is not known."""
    documents, lines = _documents(text, file.name)
    if documents and lines and _is_step(documents[0].value):
        return _trace(file.name, reading)
    outputs = _joined([out for node in documents for out in outputs_in(node)], documents)
    if not outputs:
        return None
    form = f"JSON {'lines' if lines else 'document'}"
    engine, remark = _engine(documents, lines, file, reading)
    if engine is None:
        return Recorded(file.name, form, tuple(outputs), remark)
    return Recorded(file.name, engine.title, with_values(outputs, engine), remark)


def _documents(text: str, name: str) -> tuple[list[Node], bool]:
    """One document, or one a line where the first line is a value by itself."""
    first, _, rest = text.lstrip().partition("\n")
    if rest.strip():
        try:
            parse(first, name)
        except CaptureError:
            pass
        else:
            numbered = enumerate(text.splitlines(), 1)
            return [
                Node(parse(line, name, number), f"{name}, line {number}")
                for number, line in numbered
                if line.strip()
            ], True
    return [Node(parse(text, name), name)], False


def _engine(
    documents: list[Node], lines: bool, file: LocalFile, reading: ReadingSettings
) -> tuple[EngineFile | None, str]:
    """The engine's file with the values, where one is recognised and can be read; else why not."""
    from specdist.readers.engine_opening import engine_document, engine_lines

    plain = replace(reading, numbers=None, vocab=None)
    try:
        if lines:
            return engine_lines(file, documents[0].value, plain), ""
        return engine_document(documents[0].value, file.name, plain), ""
    except SpecdistError as error:
        return None, f"no values: {error.message}"


def _joined(outputs: list[Output], documents: list[Node]) -> list[Output]:
    """The pieces of an Ollama stream put together; every other list as it is."""
    if len(outputs) != len(documents) or not any(_is_piece(node.value) for node in documents):
        return outputs
    joined: list[Output] = []
    text = ""
    for output, node in zip(outputs, documents, strict=True):
        text += output.text or ""
        if not _is_piece(node.value):
            joined.append(replace(output, text=text))
            text = ""
    return joined if not text else [*joined, replace(outputs[-1], text=text)]


def _is_piece(value: Any) -> bool:
    return isinstance(value, dict) and value.get("done") is False


def _is_step(value: Any) -> bool:
    return isinstance(value, dict) and isinstance(value.get("emitted"), list)


def _trace(name: str, reading: ReadingSettings) -> Recorded:
    """The tokens that recorded steps emitted, a sequence an output; rows when asked for."""
    from specdist.readers.texts.trace_outputs import trace_outputs
    from specdist.readers.traces.opening import open_trace

    return trace_outputs(open_trace(name, replace(reading, numbers=None)))
