"""What a reader of an engine's file fills: rows of one model, and nothing else.

Processing and comparison come later. A reader decides kind and stage by what its format fixes or
by the evidence of the values, says what it assumed, and marks the positions that must not be used.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from specdist.model.row import FloatValues, Kind, ListedValues, NumberFormat, RationalValues, Stage
from specdist.model.settings import ReadingSettings

Label = bytes | str
"""What stands for a token where the file has no ids: its bytes, or its text."""


@dataclass(frozen=True, slots=True)
class EngineRow:
    """One position. ``values`` are over token ids, or, where ``labels`` is not None, over the
    indices of ``labels``, whose tokens have no ids in this file.

    ``index`` is the position in its sequence: the row is the law of the token that stands there.
    ``token`` is the id (or the index of the label) that was sampled or stands in the prompt there.
    ``refused`` says why the position must not be used; its values are then None.
    """

    sequence: int
    index: int
    values: FloatValues | RationalValues | ListedValues | None
    kind: Kind
    stage: Stage
    numbers: NumberFormat
    place: str
    labels: tuple[Label, ...] | None = None
    token: int | None = None
    refused: str = ""


@dataclass(frozen=True, slots=True)
class EngineFile:
    """Rows of one model as an engine wrote them.

    ``rows`` makes a fresh iterator each time; large files are streamed. ``count`` is the number of
    rows where it is known without reading. ``vocab_size`` is None where neither the file nor the
    user says it. ``stage_evidence`` and ``kind_evidence`` say why stage and kind are what they are;
    ``assumed`` whether the stage is a guess that ``--stage`` should confirm. ``settings`` holds
    what the file says of its own processing (temperature, top_p, ...), shown and never applied.
    ``tokens`` are the ids of the text per sequence, where known: two files on different text are
    no pair. ``shown`` are further facts for `inspect`, ``warnings`` what a user must know;
    ``concludes`` says in a sentence what such a file allows to conclude.
    """

    source: str
    reader: str
    title: str
    rows: Callable[[], Iterator[EngineRow]]
    count: int | None
    vocab_size: int | None
    stage: Stage
    stage_evidence: str
    assumed: bool = False
    kind_evidence: str = ""
    settings: Mapping[str, str] = field(default_factory=dict)
    tokens: Mapping[int, tuple[int, ...]] = field(default_factory=dict)
    shown: tuple[tuple[str, str], ...] = ()
    warnings: tuple[str, ...] = ()
    concludes: str = ""
    placed: bool = True
    """Whether sequence and index of a row say where it stands in a text; else only their order."""
    draft: EngineFile | None = None
    """The draft's rows, for the few formats that hold both sides."""


@dataclass(frozen=True, slots=True)
class AnswerFormat:
    """A format of JSON answers. ``recognises`` looks at the keys of a parsed document and is quick;
    ``read`` takes the document, the name of the file and the reading settings, and raises
    CaptureError or RowError where the document is broken or must be refused."""

    name: str
    title: str
    recognises: Callable[[Any], bool]
    read: Callable[[Any, str, ReadingSettings], EngineFile]


@dataclass(frozen=True, slots=True)
class LinesFormat:
    """A format of JSON lines. ``recognises`` looks at the value of the first line; ``read`` takes a
    maker of fresh iterators over (line number, value)."""

    name: str
    title: str
    recognises: Callable[[Any], bool]
    read: Callable[[Callable[[], Iterator[tuple[int, Any]]], str, ReadingSettings], EngineFile]
