"""Answers of llama-server: ``completion_probabilities``, or the same objects in a chat answer.

The lists hold the most likely tokens of the raw logits at temperature 1, or, where the request had
``post_sampling_probs``, of the law after the whole sampler chain. The sums of both softmaxes are
float32, term after term (llama.cpp, tools/server/server-common.cpp, ``get_token_probabilities``;
src/llama-sampler.cpp, ``llama_sampler_softmax_impl``), so their slack grows with the number of
tokens.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from specdist.errors import CaptureError
from specdist.model.row import Kind, NumberFormat, Stage
from specdist.model.settings import ReadingSettings
from specdist.readers.engine_files.engine_file import AnswerFormat, EngineFile, EngineRow
from specdist.readers.engine_files.json_node import Node
from specdist.readers.engine_files.llama_server_positions import (
    ServerPosition,
    is_position,
    kind_of,
    position,
)
from specdist.readers.engine_files.llama_server_settings import ServerSettings, settings_of
from specdist.readers.engine_files.llama_server_words import concludes, evidence, warnings
from specdist.readers.engine_files.logprob_numbers import LogprobNumbers
from specdist.readers.engine_files.ranked_checks import is_falling
from specdist.readers.engine_files.ranked_list import (
    LARGEST_VOCABULARY,
    RankedList,
    listed_values,
    sum_slack,
)
from specdist.readers.engine_files.told import check_told

NAME = "llama-server"
TITLE = "a llama-server answer"


@dataclass(frozen=True, slots=True)
class _Answer:
    """One answer, or one choice of several: its positions, and the tokens before them."""

    positions: tuple[ServerPosition, ...]
    start: int
    settings: ServerSettings


def recognises(value: Any) -> bool:
    """Whether a document is such an answer, or a list of them."""
    items = value if isinstance(value, list) else [value]
    return any(_arrays(item) for item in items[:4])


def read(value: Any, name: str, reading: ReadingSettings) -> EngineFile:
    """The rows of every answer, a sequence each. Raises CaptureError and RowError."""
    numbers = LogprobNumbers(floor_is_zero=True)
    root = Node(value, name)
    found = list(_arrays_of(root))
    nodes = [node for _, nodes in found for node in nodes[:1]]
    if not nodes:
        raise root.error("no position has probabilities", advice="ask for n_probs")
    kind = kind_of(nodes[0])
    stage = Stage.RAW if kind is Kind.LOGPROBS else Stage.PROCESSED
    check_told(reading, name, TITLE, kind, stage)
    answers = [_answer(document, nodes, kind, numbers) for document, nodes in found]
    _refuse_sampled_on_device(answers, kind, root)
    size = _size(answers, kind, reading, root)
    slack = _slack(answers, kind, size)
    rows = tuple(_rows(answers, kind, stage, size, slack))
    if all(row.refused for row in rows):
        raise CaptureError(
            f"no position can be used: {rows[0].refused}",
            place=name,
            expected="a list of tokens at some position",
            advice="ask the same of a server without a draft model, whose law is the target's too",
        )
    settings = answers[0].settings
    return EngineFile(
        source=name,
        reader=NAME,
        title=TITLE,
        rows=lambda: iter(rows),
        count=len(rows),
        vocab_size=size,
        stage=stage,
        stage_evidence=evidence(kind),
        kind_evidence=f"{kind.value}, as the names of the members say",
        settings=settings.told,
        shown=((("draft tokens", settings.drafted),) if settings.drafted else ()) + numbers.facts(),
        warnings=(*warnings(rows, settings, kind, slack, size), *numbers.warnings()),
        concludes=concludes(rows, kind),
    )


ANSWERS = (AnswerFormat(NAME, TITLE, recognises, read),)


def _arrays(value: Any) -> list[list[Any]]:
    """The arrays of positions in one answer; none where it is another document."""
    if not isinstance(value, dict):
        return []
    found = value.get("completion_probabilities")
    if isinstance(found, list):
        return [found] if not found or is_position(found[0]) else []
    arrays: list[list[Any]] = []
    for choice in value.get("choices") or [] if isinstance(value.get("choices"), list) else []:
        logprobs = choice.get("logprobs") if isinstance(choice, dict) else None
        content = logprobs.get("content") if isinstance(logprobs, dict) else None
        if isinstance(content, list) and content and is_position(content[0]):
            arrays.append(content)
    return arrays


def _arrays_of(root: Node) -> Iterator[tuple[Node, list[Node]]]:
    """Every array of positions with the answer that it stands in; a choice has one."""
    for document in root.items() if isinstance(root.value, list) else [root]:
        if "completion_probabilities" in document.fields():
            yield document, document.member("completion_probabilities").items()
            continue
        for choice in document.member("choices").items():
            logprobs = choice.optional("logprobs")
            content = None if logprobs is None else logprobs.optional("content")
            yield document, [] if content is None else content.items()


def _answer(document: Node, nodes: list[Node], kind: Kind, numbers: LogprobNumbers) -> _Answer:
    usage = document.optional("usage")
    before = document.optional("tokens_evaluated") or (
        None if usage is None else usage.optional("prompt_tokens")
    )
    return _Answer(
        tuple(position(item, kind, numbers) for item in nodes),
        0 if before is None else before.token_id(),
        settings_of(document),
    )


def _refuse_sampled_on_device(answers: list[_Answer], kind: Kind, root: Node) -> None:
    """Raises CaptureError where the backend sampled: the lists then are a softmax of the logits
    that it left (llama.cpp, ``get_token_probabilities`` over the sampled candidates)."""
    if kind is Kind.LOGPROBS and any(answer.settings.on_device for answer in answers):
        raise root.error(
            "backend_sampling was on: these log-probabilities are of the tokens that the backend "
            "left, at a stage that nothing says",
            "a softmax of all raw logits",
            "ask without backend_sampling, or with post_sampling_probs",
        )


def _size(answers: list[_Answer], kind: Kind, reading: ReadingSettings, root: Node) -> int | None:
    """The vocabulary size: a raw list shorter than asked for names every token."""
    told = reading.vocab_size
    counts = {
        len(found.ranked): len(found.ranked) < (answer.settings.asked or 0)
        for answer in answers
        for found in answer.positions
        if not found.refused
    }
    if kind is Kind.PROBABILITIES or not any(counts.values()):
        return told
    size = min(count for count, short in counts.items() if short)
    other = next((count for count in counts if count != size), size)
    if other != size or told not in (None, size):
        raise root.error(
            f"one list of {size} tokens is shorter than asked for, so it names all of them; "
            + (f"another has {other}" if other != size else f"--vocab-size says {told}"),
            "one vocabulary",
        )
    return size


def _slack(answers: list[_Answer], kind: Kind, size: int | None) -> Fraction:
    left = [answer.settings.candidates for answer in answers]
    if kind is Kind.PROBABILITIES and None not in left:
        return sum_slack(max(count or 0 for count in left))
    return sum_slack(LARGEST_VOCABULARY if size is None else size)


def _rows(
    answers: list[_Answer], kind: Kind, stage: Stage, size: int | None, slack: Fraction
) -> Iterator[EngineRow]:
    for sequence, answer in enumerate(answers):
        for at, found in enumerate(answer.positions):
            values = None
            if not found.refused:
                ranked = _ranked(found, kind, answer.settings.asked, size, slack)
                values = listed_values(ranked, kind, found.place)
            yield EngineRow(
                sequence=sequence,
                index=answer.start + at,
                values=values,
                kind=kind,
                stage=stage,
                numbers=NumberFormat.FLOAT32,
                place=found.place,
                token=found.own.token,
                refused=found.refused,
            )


def _ranked(
    found: ServerPosition, kind: Kind, asked: int | None, size: int | None, slack: Fraction
) -> RankedList:
    """A processed list shorter than asked for holds every token that the chain leaves. Builds that
    do not sort what the chain leaves list the first candidates, in no order."""
    ranked = found.ranked
    if kind is Kind.LOGPROBS:
        return RankedList(ranked, (found.own,), size, slack)
    only = tuple(entry.token for entry in ranked) if 0 < len(ranked) < (asked or 0) else None
    if is_falling(ranked):
        return RankedList(ranked, (found.own,), size, slack, only=only)
    named = dict.fromkeys([*ranked, found.own])
    return RankedList((), tuple(named), size, slack, only=only)
