"""Fireworks' chat answers: the OpenAI shape with ids, and two values of the sampled token.

``logprob`` belongs to the raw law; ``sampling_logprob`` to the law that was sampled from (field
names of its client, 1.2). The raw values are read. Entries of token 0 with -99999.0 are padding.
"""

from __future__ import annotations

from typing import Any

from specdist.model.row import Stage
from specdist.model.settings import ReadingSettings
from specdist.readers.engine_files.answers import (
    content_lists,
    describe,
    raw_choices,
    raw_content,
    whole_answer,
)
from specdist.readers.engine_files.engine_file import AnswerFormat, EngineFile
from specdist.readers.engine_files.json_node import Node
from specdist.readers.engine_files.list_evidence import StageClaim
from specdist.readers.engine_files.listed_file import ListedSource, listed_file
from specdist.readers.engine_files.logprob_lists import Ranking, TokenList
from specdist.readers.engine_files.logprob_numbers import PADDING, LogprobNumbers
from specdist.readers.engine_files.openai_chat import SERVED, say_lists

_TITLE = "chat answer of Fireworks"
_RAW = StageClaim(
    Stage.RAW, "the value of the law sampled from stands apart, as sampling_logprob", False
)


def recognises(value: Any) -> bool:
    """Whether entries have ids beside their texts."""
    if not whole_answer(value):
        return False
    found = raw_content(raw_choices(value))
    return any(("token_id" in x and "token" in x) or "sampling_logprob" in x for x in found)


def read(value: Any, name: str, reading: ReadingSettings) -> EngineFile:
    """Rows over ids. Raises CaptureError and RowError."""
    document = Node(value, name)
    source = ListedSource(name, "fireworks-chat", _TITLE, SERVED, service=True)
    describe(document, source)
    numbers = LogprobNumbers(floor_is_zero=False)
    contents = [
        content
        for choice in document.member("choices").items()
        if (logprobs := choice.optional("logprobs")) is not None
        and (content := logprobs.optional("content")) is not None
    ]
    _say_sampled(contents, source)
    lists: list[TokenList] = []
    for sequence, content in enumerate(contents):
        lists += content_lists(content, (sequence, 0), _id, numbers, Ranking.LIKELIEST, _is_padding)
    say_lists(contents, lists, source)
    return listed_file(source, lists, numbers, reading)


def _say_sampled(contents: list[Node], source: ListedSource) -> None:
    """How the law that was sampled from differs from the one that is read."""
    raw, sampled = (LogprobNumbers(floor_is_zero=False) for _ in range(2))
    items = [item for content in contents for item in content.items()]
    beside = [
        (item, other) for item in items if (other := item.optional("sampling_logprob")) is not None
    ]
    padding = sum(_is_padding(top) for item in items for top in _tops(item))
    if padding:
        source.shown.append(("padding entries", f"{padding} of token 0 with -99999.0, left out"))
    if not beside:
        return
    source.stage = _RAW
    differ = sum(raw.read(item.member("logprob")) != sampled.read(other) for item, other in beside)
    source.shown.append(
        (
            "sampling_logprob",
            f"at {len(beside)} positions, other than logprob at {differ}: the law that was "
            "sampled from is not the one that is read",
        )
    )


def _tops(item: Node) -> list[Node]:
    tops = item.optional("top_logprobs")
    return [] if tops is None else tops.items()


def _is_padding(node: Node) -> bool:
    fields = node.fields()
    try:
        return fields.get("token_id") == 0 and float(fields.get("logprob", 0)) == PADDING
    except (TypeError, ValueError, OverflowError):
        return False


def _id(node: Node) -> int:
    return node.member("token_id").token_id()


ANSWERS = (AnswerFormat("fireworks-chat", _TITLE, recognises, read),)
