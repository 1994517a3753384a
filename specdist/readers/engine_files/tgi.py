"""Answers of text-generation-inference: ``details`` with ``tokens``, ``prefill``, ``top_tokens``.

Values of written tokens are a log-softmax after all warpers, so of the processed law; those of
``prefill`` are raw, for the tokens of the prompt alone (text-generation-inference 2,
server/text_generation_server/utils/tokens.py and models/flash_causal_lm.py). A list holds every
token that ties with its last one; null is what JSON makes of minus infinity.
"""

from __future__ import annotations

from math import inf
from typing import Any

from specdist.model.row import Stage
from specdist.model.settings import ReadingSettings
from specdist.readers.engine_files.engine_file import AnswerFormat, EngineFile
from specdist.readers.engine_files.json_node import Node, same_length
from specdist.readers.engine_files.list_evidence import StageClaim
from specdist.readers.engine_files.listed_file import ListedSource, listed_file
from specdist.readers.engine_files.logprob_lists import (
    Entry,
    Ranking,
    TokenList,
    one_entry_an_id,
    with_sampled,
)
from specdist.readers.engine_files.logprob_numbers import LogprobNumbers

NAME = "tgi"
TITLE = "an answer of text-generation-inference"
_PROCESSED = StageClaim(Stage.PROCESSED, "the server lists the law after all warpers", False)
_ADVICE = 'ask for "details": true with "top_n_tokens": 5'


def recognises(value: Any) -> bool:
    """Whether a document is such an answer, or a list of them."""
    items = value if isinstance(value, list) else [value]
    return any(
        isinstance(item, dict)
        and isinstance(item.get("details"), dict)
        and isinstance(item["details"].get("tokens"), list)
        for item in items[:4]
    )


def read(value: Any, name: str, reading: ReadingSettings) -> EngineFile:
    """The rows of every answer, a sequence each. Raises CaptureError and RowError."""
    root = Node(value, name)
    source = ListedSource(name, NAME, TITLE, _PROCESSED, advice=_ADVICE)
    numbers = LogprobNumbers(floor_is_zero=True)
    lists: list[TokenList] = []
    for sequence, answer in enumerate(root.items() if isinstance(value, list) else [root]):
        details = answer.member("details")
        lists += _lists(details, sequence, numbers, source)
        if details.has("best_of_sequences"):
            source.warnings.append("best_of_sequences are other texts, and are not read")
    return listed_file(source, lists, numbers, reading)


ANSWERS = (AnswerFormat(NAME, TITLE, recognises, read),)


def _lists(
    details: Node, sequence: int, numbers: LogprobNumbers, source: ListedSource
) -> list[TokenList]:
    before = details.optional("prefill")
    prompt = [] if before is None else before.items()
    found = [
        _single(item, sequence, index, numbers)
        for index, item in enumerate(prompt)
        if index or item.fields().get("logprob") is not None
    ]
    tokens, tops = details.member("tokens"), details.optional("top_tokens")
    if tops is not None:
        same_length(tokens, tops)
    for at, item in enumerate(tokens.items()):
        listed = [] if tops is None else tops.items()[at].items()
        index = len(prompt) + at
        entries = one_entry_an_id([_entry(entry, numbers, at) for entry in listed], item)
        row = TokenList(sequence, index, item.place, entries, Ranking.LIKELIEST)
        with_sampled(row, _entry(item, numbers, at), item)
        found.append(_with_ranks(row, len(listed)))
    if prompt:
        ids = [item.member("id").token_id() for item in (*prompt, *tokens.items())]
        source.tokens[sequence] = tuple(ids)
    return found


def _single(item: Node, sequence: int, index: int, numbers: LogprobNumbers) -> TokenList:
    """The token of a prompt with its own value alone."""
    own = _entry(item, numbers, index)
    row = TokenList(sequence, index, item.place, [], Ranking.UNKNOWN, drawn=False)
    return with_sampled(row, own, item)


def _entry(node: Node, numbers: LogprobNumbers, at: int) -> Entry:
    value = node.member("logprob")
    return Entry(node.member("id").token_id(), -inf if value.value is None else numbers.read(value))


def _with_ranks(row: TokenList, count: int) -> TokenList:
    row.entries[:count] = [
        Entry(entry.token, entry.value, i + 1) for i, entry in enumerate(row.entries[:count])
    ]
    own = row.own()
    row.rank = None if own is None else own.rank
    return row
