"""OpenAI's Responses: ``output[].content[].logprobs``, the objects of chat answers.

They are there only where the request had ``include: ["message.output_text.logprobs"]``; without it
the lists are empty (OpenAI's reference of responses).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from specdist.model.settings import ReadingSettings
from specdist.readers.engine_files.answers import content_lists, describe, label_of
from specdist.readers.engine_files.engine_file import AnswerFormat, EngineFile
from specdist.readers.engine_files.json_node import Node
from specdist.readers.engine_files.listed_file import ListedSource, listed_file
from specdist.readers.engine_files.logprob_lists import Ranking, TokenList
from specdist.readers.engine_files.logprob_numbers import LogprobNumbers
from specdist.readers.engine_files.openai_chat import SERVED, say_lists

_TITLE = "answer of OpenAI's Responses"
_SETTINGS = ("temperature", "top_p")


def recognises(value: Any) -> bool:
    """Whether an output holds parts of text with ``logprobs``."""
    found = value.get("output") if isinstance(value, dict) else None
    return isinstance(found, list) and any(
        isinstance(part, dict) and isinstance(part.get("logprobs"), list)
        for item in found
        if isinstance(item, dict) and isinstance(item.get("content"), list)
        for part in item["content"]
    )


def read(value: Any, name: str, reading: ReadingSettings) -> EngineFile:
    """Rows over labels, a sequence a part of text. Raises CaptureError and RowError."""
    document = Node(value, name)
    source = ListedSource(name, "openai-responses", _TITLE, SERVED, service=True)
    describe(document, source)
    fields = document.fields()
    source.settings = {key: str(fields[key]) for key in _SETTINGS if fields.get(key) is not None}
    if type(fields.get("top_logprobs")) is int:
        source.shown.append(("alternatives asked for", str(fields["top_logprobs"])))
    numbers = LogprobNumbers(floor_is_zero=False)
    contents = list(_parts(document))
    if not contents:
        raise document.error(
            "the lists of log-probabilities are empty",
            expected="an entry a token",
            advice='ask with include: ["message.output_text.logprobs"] and top_logprobs',
        )
    lists: list[TokenList] = []
    for sequence, content in enumerate(contents):
        lists += content_lists(content, (sequence, 0), label_of, numbers, Ranking.LIKELIEST)
    say_lists(contents, lists, source)
    return listed_file(source, lists, numbers, reading)


def _parts(document: Node) -> Iterator[Node]:
    for item in document.member("output").items():
        content = item.optional("content")
        for part in [] if content is None else content.items():
            logprobs = part.optional("logprobs")
            if logprobs is not None and logprobs.items():
                yield logprobs


ANSWERS = (AnswerFormat("openai-responses", _TITLE, recognises, read),)
