"""Gemini's ``logprobsResult``: lists of the likeliest tokens, and the chosen tokens beside them.

The chosen token may be outside its list. Keys are camel case in the service's JSON and snake case
in dumps of its Python client. Protocol buffers leave out numbers that are 0, so an entry without
its id or its value is not read as 0: such a position is not used.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from specdist.model.settings import ReadingSettings
from specdist.readers.engine_files.engine_file import AnswerFormat, EngineFile
from specdist.readers.engine_files.json_node import Node
from specdist.readers.engine_files.listed_file import ListedSource, listed_file
from specdist.readers.engine_files.logprob_lists import (
    Entry,
    Ranking,
    TokenList,
    one_entry_an_id,
    with_sampled,
)
from specdist.readers.engine_files.logprob_numbers import Absent, LogprobNumbers
from specdist.readers.engine_files.openai_chat import SERVED

_TITLE = "answer of Gemini"
_NAMES = ("logprobsResult", "logprobs_result")
_INCOMPLETE = "an entry has no id or no value, which may stand for 0"


def recognises(value: Any) -> bool:
    """Whether a candidate has a result of log-probabilities."""
    found = value.get("candidates") if isinstance(value, dict) else None
    return isinstance(found, list) and any(
        isinstance(item, dict) and any(isinstance(item.get(name), dict) for name in _NAMES)
        for item in found
    )


def read(value: Any, name: str, reading: ReadingSettings) -> EngineFile:
    """Rows over ids, or over texts where no entry has an id. Raises CaptureError and RowError."""
    document = Node(value, name)
    source = ListedSource(name, "gemini", _TITLE, SERVED, service=True)
    numbers = LogprobNumbers(floor_is_zero=False)
    results = [
        result
        for candidate in document.member("candidates").items()
        if (result := _either(candidate, *_NAMES)) is not None
    ]
    by_id = any(_either(node, *_ID) is not None for result in results for node in _every(result))
    lists: list[TokenList] = []
    for sequence, result in enumerate(results):
        lists += _lists(result, sequence, by_id, numbers)
    return listed_file(source, lists, numbers, reading)


_ID = ("tokenId", "token_id")
_VALUE = ("logProbability", "log_probability")


def _either(node: Node, camel: str, snake: str) -> Node | None:
    return node.optional(camel) or node.optional(snake)


def _chosen(result: Node) -> list[Node]:
    node = _either(result, "chosenCandidates", "chosen_candidates")
    return [] if node is None else node.items()


def _tops(result: Node) -> list[list[Node]]:
    node = _either(result, "topCandidates", "top_candidates")
    found = [] if node is None else [item.optional("candidates") for item in node.items()]
    return [[] if item is None else item.items() for item in found]


def _every(result: Node) -> Iterator[Node]:
    yield from _chosen(result)
    for tops in _tops(result):
        yield from tops


def _lists(
    result: Node, sequence: int, by_id: bool, numbers: LogprobNumbers
) -> Iterator[TokenList]:
    chosen, tops = _chosen(result), _tops(result)
    if chosen and tops and len(chosen) != len(tops):
        raise result.error(
            f"{len(chosen)} chosen tokens and {len(tops)} lists", expected="one list a token"
        )
    for index in range(max(len(chosen), len(tops))):
        own = chosen[index] if chosen else None
        listed = tops[index] if tops else []
        node = result if own is None else own
        every = [*listed, *([] if own is None else [own])]
        found = TokenList(sequence, index, node.place, [], Ranking.LIKELIEST)
        if not all(_is_whole(item, by_id) for item in every):
            found.refused = _INCOMPLETE
        else:
            found.entries = one_entry_an_id([_entry(x, by_id, numbers) for x in listed], node)
            if own is not None:
                found = with_sampled(found, _entry(own, by_id, numbers), node)
        yield found


def _is_whole(node: Node, by_id: bool) -> bool:
    return _either(node, *_VALUE) is not None and (not by_id or _either(node, *_ID) is not None)


def _entry(node: Node, by_id: bool, numbers: LogprobNumbers) -> Entry:
    value, ident = _either(node, *_VALUE), _either(node, *_ID)
    number = Absent.NULL if value is None else numbers.read(value)
    if by_id and ident is not None:
        return Entry(ident.token_id(), number)
    return Entry(node.member("token").text(), number)


ANSWERS = (AnswerFormat("gemini", _TITLE, recognises, read),)
