"""Answers of Ollama: ``logprobs`` beside ``response`` or ``message``, tokens by bytes and text.

Each position holds the sampled token with its value and the k most likely ones, falling. Values are
a softmax of the raw logits, summed in float64 (Ollama 0.12, runner/common/logprob.go,
``CalculateLogprobs``). Tokens have no ids here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

from specdist.model.row import Stage
from specdist.model.settings import ReadingSettings
from specdist.readers.engine_files.answers import content_lists, label_of
from specdist.readers.engine_files.engine_file import AnswerFormat, EngineFile, LinesFormat
from specdist.readers.engine_files.json_node import Node
from specdist.readers.engine_files.list_evidence import StageClaim
from specdist.readers.engine_files.listed_file import ListedSource, listed_file
from specdist.readers.engine_files.logprob_lists import Ranking, TokenList
from specdist.readers.engine_files.logprob_numbers import LogprobNumbers

NAME = "ollama"
TITLE = "an Ollama answer"
STREAM_TITLE = "a stream of Ollama answers"
_RAW = StageClaim(Stage.RAW, "the runner takes the softmax of the raw logits", False)
_ADVICE = 'ask for "logprobs": true with "top_logprobs": 20'


def recognises(value: Any) -> bool:
    """Whether a document is one whole answer."""
    return _is_answer(value) and value.get("done") is not False


def _is_answer(value: Any) -> bool:
    if not isinstance(value, dict) or not isinstance(value.get("logprobs"), list):
        return False
    text = isinstance(value.get("response"), str) or isinstance(value.get("message"), dict)
    return text and ("done" in value or "eval_count" in value)


def _is_piece(value: Any) -> bool:
    return _is_answer(value) and value.get("done") is False


def read(value: Any, name: str, reading: ReadingSettings) -> EngineFile:
    """The rows of one answer. Raises CaptureError and RowError."""
    return _file([[Node(value, name)]], name, TITLE, reading)


def read_stream(
    lines: Callable[[], Iterator[tuple[int, Any]]], name: str, reading: ReadingSettings
) -> EngineFile:
    """The rows of answers in pieces, a piece a line; the one that is done ends a sequence. Raises
    CaptureError and RowError."""
    answers: list[list[Node]] = [[]]
    for number, value in lines():
        node = Node(value, f"{name}, line {number}")
        answers[-1].append(node)
        if node.fields().get("done") is True:
            answers.append([])
    return _file([pieces for pieces in answers if pieces], name, STREAM_TITLE, reading)


ANSWERS = (AnswerFormat(NAME, TITLE, recognises, read),)
LINES = (LinesFormat("ollama-stream", STREAM_TITLE, _is_piece, read_stream),)


def _file(answers: list[list[Node]], name: str, title: str, reading: ReadingSettings) -> EngineFile:
    source = ListedSource(name, NAME, title, _RAW, advice=_ADVICE)
    numbers = LogprobNumbers(floor_is_zero=True)
    lists: list[TokenList] = []
    for sequence, pieces in enumerate(answers):
        start = 0
        for piece in pieces:
            content = piece.optional("logprobs")
            if content is None:
                continue
            found = content_lists(content, (sequence, start), label_of, numbers, Ranking.LIKELIEST)
            items = content.items()
            lists += [_ranked(x, item) for x, item in zip(found, items, strict=True)]
            start += len(items)
    model = answers[0][0].fields().get("model")
    if isinstance(model, str):
        source.shown.append(("model", model))
    return listed_file(source, lists, numbers, reading)


def _ranked(found: TokenList, item: Node) -> TokenList:
    """The list with the ranks that its order gives; the sampled token has one if it is there."""
    tops = item.optional("top_logprobs")
    count = 0 if tops is None else len(tops.items())
    entries = found.entries
    entries[:count] = [replace(entry, rank=i + 1) for i, entry in enumerate(entries[:count])]
    own = found.own()
    found.rank = None if own is None else own.rank
    return found
