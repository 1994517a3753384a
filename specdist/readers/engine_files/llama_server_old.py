"""Answers of llama-server from before December 2024: ``probs`` with ``tok_str`` and ``prob``.

Each position lists the candidates that the sampler chain left, as texts, with a probability of 0
for every missing one up to ``n_probs`` (llama.cpp before PR 10783, examples/server/server.cpp).
Texts do not name tokens: two of them may look the same.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from specdist.errors import CaptureError
from specdist.model.row import Kind, ListedValues, NumberFormat, Stage
from specdist.model.settings import ReadingSettings
from specdist.readers.engine_files.engine_file import AnswerFormat, EngineFile, EngineRow
from specdist.readers.engine_files.json_node import Node
from specdist.readers.engine_files.llama_server_settings import settings_of
from specdist.readers.engine_files.logprob_lists import is_lossy
from specdist.readers.engine_files.logprob_numbers import Absent, LogprobNumbers
from specdist.readers.engine_files.ranked_checks import TokenValue, is_falling
from specdist.readers.engine_files.ranked_list import (
    LARGEST_VOCABULARY,
    RankedList,
    listed_values,
    sum_slack,
)
from specdist.readers.engine_files.told import check_told

NAME = "llama-server-old"
TITLE = "an answer of an old llama-server"
_WHY = (
    "builds before December 2024 list what the sampler chain leaves; a server at temperature 0 "
    "lists a plain softmax"
)


@dataclass(frozen=True, slots=True)
class _Texts:
    """The listed texts and probabilities of a position, without those of probability 0."""

    texts: tuple[str, ...]
    values: tuple[float, ...]
    ended: bool
    sampled: str
    place: str


def recognises(value: Any) -> bool:
    """Whether a document is such an answer, or a list of them."""
    items = value if isinstance(value, list) else [value]
    return any(_is_answer(item) for item in items[:4])


def read(value: Any, name: str, reading: ReadingSettings) -> EngineFile:
    """The rows of every answer, a sequence each. Raises CaptureError and RowError."""
    stage = reading.stage or Stage.PROCESSED
    check_told(reading, name, TITLE, Kind.PROBABILITIES, stage)
    root = Node(value, name)
    numbers = LogprobNumbers(floor_is_zero=True)
    documents = root.items() if isinstance(root.value, list) else [root]
    rows = tuple(_rows(documents, stage, reading, numbers))
    if all(row.refused for row in rows):
        raise CaptureError(
            "no position can be used" + (f": {rows[0].refused}" if rows else ""),
            place=name,
            advice="a newer server lists ids; ask it for n_probs",
        )
    return EngineFile(
        source=name,
        reader=NAME,
        title=TITLE,
        rows=lambda: iter(rows),
        count=len(rows),
        vocab_size=reading.vocab_size,
        stage=stage,
        stage_evidence=_WHY if reading.stage is None else "as told",
        assumed=reading.stage is None,
        kind_evidence="probabilities, as the name of the member says",
        settings=settings_of(documents[0]).told,
        warnings=("tokens are named by their text alone",),
        concludes="bounds on the processed law, where each text is one token",
    )


ANSWERS = (AnswerFormat(NAME, TITLE, recognises, read),)


def _is_answer(value: Any) -> bool:
    found = value.get("completion_probabilities") if isinstance(value, dict) else None
    if not isinstance(found, list) or not found or not isinstance(found[0], dict):
        return False
    probs = found[0].get("probs")
    return isinstance(probs, list) and "content" in found[0]


def _rows(
    documents: list[Node], stage: Stage, reading: ReadingSettings, numbers: LogprobNumbers
) -> Iterator[EngineRow]:
    for sequence, document in enumerate(documents):
        before = document.optional("tokens_evaluated")
        start = 0 if before is None else before.token_id()
        for at, node in enumerate(document.member("completion_probabilities").items()):
            found = _texts(node, numbers)
            refused = _refusal(found)
            values = None if refused else _values(found, reading)
            yield EngineRow(
                sequence=sequence,
                index=start + at,
                values=values,
                kind=Kind.PROBABILITIES,
                stage=stage,
                numbers=NumberFormat.FLOAT32,
                place=node.place,
                labels=found.texts,
                token=found.texts.index(found.sampled) if found.sampled in found.texts else None,
                refused=refused,
            )


def _texts(node: Node, numbers: LogprobNumbers) -> _Texts:
    pairs: list[tuple[str, float]] = []
    items = node.member("probs").items()
    for item in items:
        value = numbers.read(item.member("prob"))
        if isinstance(value, Absent) or value < 0:
            raise item.member("prob").error("this is no probability", "a number from 0 to 1")
        pairs.append((item.member("tok_str").text(), value))
    kept = [(text, value) for text, value in pairs if value]
    return _Texts(
        tuple(text for text, _ in kept),
        tuple(value for _, value in kept),
        len(kept) < len(pairs),
        node.member("content").text(),
        node.place,
    )


def _refusal(found: _Texts) -> str:
    if not found.texts:
        return "no text has a probability"
    if len(set(found.texts)) < len(found.texts):
        return "two listed tokens have the same text"
    if any(is_lossy(text) for text in found.texts):
        return "a text shows U+FFFD in place of bytes, so that many tokens look the same"
    return ""


def _values(found: _Texts, reading: ReadingSettings) -> ListedValues:
    entries = tuple(TokenValue(i, value) for i, value in enumerate(found.values))
    terms = reading.vocab_size or LARGEST_VOCABULARY
    ranked = RankedList(
        ranked=entries if is_falling(entries) else (),
        more=() if is_falling(entries) else entries,
        size=reading.vocab_size,
        slack=sum_slack(terms),
        only=tuple(range(len(entries))) if found.ended else None,
    )
    values = listed_values(ranked, Kind.PROBABILITIES, found.place)
    if isinstance(values, ListedValues):
        return values
    return ListedValues(tuple(range(len(values))), values, len(values))
