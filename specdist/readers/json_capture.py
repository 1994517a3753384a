"""Captures written as one JSON document (``specdist.capture/1``), in full or in short form."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, Literal, TypeVar

from specdist.errors import CaptureError
from specdist.model.capture import Capture, Step, Vocab
from specdist.model.options import ProcessingOptions
from specdist.model.row import Kind, ListedValues, NumberFormat, Row, Stage
from specdist.model.settings import ReadingSettings
from specdist.readers.json_batches import BATCH_KEYS
from specdist.readers.json_listed import listed_facts
from specdist.readers.json_models import MODEL_KEYS
from specdist.readers.json_numbers import type_name
from specdist.readers.json_positions import POSITION_KEYS, StepReading
from specdist.readers.json_recognition import (
    HEADER_KEYS,
    SCHEMA,
    looks_like_capture,
    not_a_capture,
)
from specdist.readers.json_rows import RowReading
from specdist.readers.json_settings import merged, read_settings, unknown_key
from specdist.readers.json_steps import STEP_KEYS, read_step
from specdist.readers.json_token_rows import read_map_of
from specdist.readers.model_facts import model_facts
from specdist.readers.naming import shorten

Word = TypeVar("Word", Kind, Stage, NumberFormat)


@dataclass(frozen=True, slots=True)
class Header:
    """What a document says about all its steps; None where it is silent."""

    numbers: NumberFormat | None = None
    kind: Kind | None = None
    stage: Stage | None = None
    vocab: Vocab | None = None
    vocab_size: int | None = None
    draft_vocab: Vocab | None = None
    draft_map: tuple[int, ...] | None = None
    options: ProcessingOptions = field(default_factory=ProcessingOptions)


def read_document(
    value: Any,
    name: str,
    reading: ReadingSettings,
    vocab: Vocab | None,
    only: Literal["target", "draft"] | None = None,
) -> Capture:
    """The capture in a parsed document, or ``only`` one side of it.

    Raises CaptureError, NotACaptureError or RowError.
    """
    if not looks_like_capture(value):
        raise not_a_capture(value, name)
    header = read_header(value, name, Header())
    steps = tuple(read_steps(value, name, step_reading(header, name, reading, vocab, only)))
    return Capture(
        source=name,
        reader="json",
        steps=lambda: iter(steps),
        facts=header_facts(header, reading, steps),
        step_count=len(steps),
        vocab=vocab or header.vocab,
    )


def read_header(document: dict[str, Any], name: str, base: Header) -> Header:
    """The header members of a document over those of ``base``. Raises CaptureError."""
    schema = document.get("schema", SCHEMA)
    if schema != SCHEMA:
        shown = shorten(schema) if isinstance(schema, str) else type_name(schema)
        raise CaptureError(
            f"unknown capture schema {shown}", place=f"{name}, schema", expected=f'"{SCHEMA}"'
        )
    size = document.get("vocab_size")
    if "vocab_size" in document and (type(size) is not int or size < 1):
        raise CaptureError(
            "vocab_size is not a size", place=f"{name}, vocab_size", expected="a number above 0"
        )
    vocab = _vocab(document, "vocab", name) or base.vocab
    if vocab is not None and size not in (None, len(vocab.texts)):
        raise CaptureError(
            f"vocab has {len(vocab.texts)} texts, vocab_size is {shorten(str(size), 24)}",
            place=f"{name}, vocab_size",
        )
    return Header(
        _word(NumberFormat, document, "numbers", name) or base.numbers,
        _word(Kind, document, "kind", name) or base.kind,
        _word(Stage, document, "stage", name) or base.stage,
        vocab,
        size or base.vocab_size,
        _vocab(document, "draft_vocab", name) or base.draft_vocab,
        read_map_of(document, "", name) or base.draft_map,
        merged(base.options, read_settings(document["settings"], "settings", name))
        if "settings" in document
        else base.options,
    )


def read_steps(
    document: dict[str, Any], name: str, reading: StepReading, first: int = 0
) -> list[Step]:
    """The steps of a document, or its one step in short form. Raises CaptureError."""
    if "steps" not in document:
        return [read_step(document, "", first, reading, HEADER_KEYS)]
    for key in document:
        if key not in (*HEADER_KEYS, "steps"):
            known = (*HEADER_KEYS, "steps")
            error = unknown_key(key, "", name, known)
            if key in (*STEP_KEYS, *POSITION_KEYS, *MODEL_KEYS, *BATCH_KEYS):
                error.advice = f"{key} belongs inside one of the steps"
            raise error
    steps = document["steps"]
    if not isinstance(steps, list):
        raise CaptureError(
            f"steps cannot be {type_name(steps)}", place=f"{name}, steps", expected="a list"
        )
    return [read_step(step, f"steps[{i}]", first + i, reading) for i, step in enumerate(steps)]


def step_reading(
    header: Header,
    name: str,
    reading: ReadingSettings,
    vocab: Vocab | None,
    only: Literal["target", "draft"] | None = None,
) -> StepReading:
    """How steps are read: the command line over the header, the format's defaults below both."""
    own = header.vocab
    size = len(own.texts) if own is not None else header.vocab_size
    if None not in (size, reading.vocab_size) and size != reading.vocab_size:
        raise CaptureError(
            f"the capture has a vocabulary of {size} tokens, --vocab-size says "
            f"{reading.vocab_size}",
            place=name,
        )
    rows = RowReading(
        name,
        reading.kind or header.kind or Kind.PROBABILITIES,
        reading.stage or header.stage or Stage.RAW,
        reading.numbers or header.numbers or NumberFormat.DECIMAL,
        _ids_by_text(own),
    )
    return StepReading(
        rows=rows,
        size=size or reading.vocab_size,
        options=header.options,
        vocab=vocab or own,
        only=only,
        draft_rows=replace(rows, texts=_ids_by_text(header.draft_vocab or own)),
        draft_vocab=header.draft_vocab,
        draft_map=header.draft_map,
    )


def header_facts(
    header: Header, reading: ReadingSettings, steps: tuple[Step, ...]
) -> tuple[tuple[str, str], ...]:
    """What ``inspect`` prints."""
    facts = [("reader", "json"), ("steps", str(len(steps)))]
    facts += words_facts(header, reading)
    over_models = [step for step in steps if step.models is not None]
    if over_models:
        facts += model_facts(over_models)
    if batches := [step for step in steps if step.requests]:
        counts = sorted({len(step.requests) for step in batches})
        facts.append(("requests of a batch", ", ".join(map(str, counts))))
        facts += model_facts([request for step in batches for request in step.requests])
    on_rows = [step for step in steps if step.positions]
    if on_rows:
        facts.append(("positions", str(sum(len(step.positions) for step in on_rows))))
        first = on_rows[0].positions[0]
        facts.append(("vocabulary size", _size_text(first.target)))
        if first.draft.size != first.target.size:
            facts.append(("draft vocabulary size", str(first.draft.size)))
        if first.draft_map is not None:
            facts.append(("draft map", f"{len(first.draft_map)} draft ids"))
        facts += listed_facts([(p.target, p.draft) for step in on_rows for p in step.positions])
    return tuple(facts)


def _size_text(row: Row) -> str:
    open_ended = isinstance(row.values, ListedValues) and row.values.open_ended
    return f"not known, at least {row.size}" if open_ended else str(row.size)


def words_facts(header: Header, reading: ReadingSettings) -> list[tuple[str, str]]:
    """Kind, stage and numbers, each with where it comes from."""
    return [
        _fact("kind", reading.kind, header.kind, Kind.PROBABILITIES),
        _fact("stage", reading.stage, header.stage, Stage.RAW),
        _fact("numbers", reading.numbers, header.numbers, NumberFormat.DECIMAL),
    ]


def _fact(name: str, given: Word | None, stated: Word | None, default: Word) -> tuple[str, str]:
    if given is None:
        return name, stated.value if stated is not None else f"{default.value} (default)"
    said = f"; the capture says {stated.value}" if stated not in (None, given) else ""
    return name, f"{given.value} (command line{said})"


def _word(words: type[Word], document: dict[str, Any], key: str, name: str) -> Word | None:
    value = document.get(key)
    if value is None and key not in document:
        return None
    if isinstance(value, str) and value in [word.value for word in words]:
        return words(value)
    shown = repr(shorten(value)) if isinstance(value, str) else type_name(value)
    raise CaptureError(
        f"{key} cannot be {shown}",
        place=f"{name}, {key}",
        expected=", ".join(word.value for word in words),
    )


def _vocab(document: dict[str, Any], key: str, name: str) -> Vocab | None:
    if key not in document:
        return None
    value = document[key]
    if not isinstance(value, list) or not value:
        raise CaptureError(
            f"{key} is not a list of texts", place=f"{name}, {key}", expected='["A", "B", "C"]'
        )
    for index, text in enumerate(value):
        if type(text) is not str:
            raise CaptureError(
                f"a token text cannot be {type_name(text)}", place=f"{name}, {key}[{index}]"
            )
    return Vocab(tuple(value))


def _ids_by_text(vocab: Vocab | None) -> dict[str, int | None]:
    """Token ids by text; None where several tokens share a text."""
    ids: dict[str, int | None] = {}
    for index, text in enumerate(vocab.texts if vocab else ()):
        ids[text] = None if text in ids else index
    return ids
