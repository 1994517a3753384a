"""Completions with ``token_ids`` beside texts: Together (ids as floats) and Fireworks' legacy form.

The alternatives, where there are any, are keyed by text, so the rows are over texts; without
alternatives only the sampled token's value is known, and the rows are over ids.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from specdist.model.settings import ReadingSettings
from specdist.readers.engine_files.answers import describe, raw_arrays, raw_choices, whole_answer
from specdist.readers.engine_files.engine_file import AnswerFormat, EngineFile
from specdist.readers.engine_files.json_node import Node, same_length
from specdist.readers.engine_files.listed_file import ListedSource, listed_file
from specdist.readers.engine_files.logprob_lists import Entry, Ranking, TokenList
from specdist.readers.engine_files.logprob_numbers import LogprobNumbers
from specdist.readers.engine_files.openai_chat import SERVED
from specdist.readers.engine_files.text_keys import text_file
from specdist.readers.strict_json import Literal

_TITLE = "completions with token_ids (Together, Fireworks)"
_LONGEST_ID = 18


def recognises(value: Any) -> bool:
    """Whether ids stand beside the tokens of a choice."""
    arrays = raw_arrays(raw_choices(value)) if whole_answer(value) else []
    return any(isinstance(item.get("token_ids"), list) for item in arrays)


def read(value: Any, name: str, reading: ReadingSettings) -> EngineFile:
    """Rows over texts, or over ids where there are no alternatives. Raises CaptureError and
    RowError."""
    document = Node(value, name)
    source = ListedSource(name, "together", _TITLE, SERVED, service=True)
    describe(document, source)
    numbers = LogprobNumbers(floor_is_zero=False)
    arrays = [
        logprobs
        for choice in document.member("choices").items()
        if (logprobs := choice.optional("logprobs")) is not None
    ]
    ids = [_ids(logprobs) for logprobs in arrays]
    source.shown.append(("sampled tokens", f"{sum(map(len, ids))}, with ids"))
    if any(_has_lists(logprobs) for logprobs in arrays):
        return text_file(document, source, numbers, reading)
    lists: list[TokenList] = []
    for sequence, (logprobs, tokens) in enumerate(zip(arrays, ids, strict=True)):
        lists += _alone(logprobs, tokens, sequence, numbers)
    return listed_file(source, lists, numbers, reading)


def _has_lists(logprobs: Node) -> bool:
    tops = logprobs.optional("top_logprobs")
    return tops is not None and any(item.value for item in tops.items())


def _ids(logprobs: Node) -> list[int]:
    """The ids, some of which may be written as ``128.0``. Raises CaptureError."""
    node = logprobs.member("token_ids")
    same_length(logprobs.member("tokens"), node)
    return [_whole(item).token_id() for item in node.items()]


def _whole(node: Node) -> Node:
    text = node.value
    if isinstance(text, Literal) and len(text) <= _LONGEST_ID:
        number = float(text)
        if number.is_integer():
            return node.with_value(int(number))
    return node


def _alone(
    logprobs: Node, ids: list[int], sequence: int, numbers: LogprobNumbers
) -> Iterator[TokenList]:
    """One value a position: that of the sampled token."""
    values = logprobs.member("token_logprobs")
    same_length(logprobs.member("tokens"), values)
    for index, (token, value) in enumerate(zip(ids, values.items(), strict=True)):
        if index == 0 and value.value is None:
            continue
        entry = Entry(token, numbers.read(value))
        yield TokenList(sequence, index, value.place, [entry], Ranking.UNKNOWN, token)


ANSWERS = (AnswerFormat("together", _TITLE, recognises, read),)
