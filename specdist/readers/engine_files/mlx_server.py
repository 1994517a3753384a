"""Chat answers of mlx-lm's server: ids, no bytes, and lists in no order.

With top_logprobs on, every entry of ``content`` repeats the first of its list, which is not the
sampled token: that one, and its value, are lost (`server.py`, 0.32). The list is the k likeliest of
the raw law in the order of argpartition. With ``logprobs`` alone the entry is the sampled token.
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
from specdist.readers.engine_files.logprob_numbers import LogprobNumbers

_TITLE = "chat answer of mlx-lm's server"
_RAW = StageClaim(Stage.RAW, "mlx-lm takes the values before the sampler, at temperature 1", False)
_LOST = (
    "every entry repeats the first of its list: the sampled tokens are not in the file, so nothing "
    "says whether two files follow one text"
)


def recognises(value: Any) -> bool:
    """Whether entries have an id and no bytes."""
    if not whole_answer(value):
        return False
    found = raw_content(raw_choices(value))
    return any("id" in item and "bytes" not in item and "logprob" in item for item in found)


def read(value: Any, name: str, reading: ReadingSettings) -> EngineFile:
    """Rows over ids. Raises CaptureError and RowError."""
    document = Node(value, name)
    source = ListedSource(name, "mlx-server", _TITLE, _RAW)
    describe(document, source)
    numbers = LogprobNumbers(floor_is_zero=False)
    lists: list[TokenList] = []
    for sequence, choice in enumerate(document.member("choices").items()):
        logprobs = choice.optional("logprobs")
        if logprobs is not None:
            content = logprobs.member("content")
            lists += content_lists(content, (sequence, 0), _id, numbers, Ranking.LIKELIEST)
    several = [found for found in lists if len(found.entries) > 1]
    if several and all(found.entries[0].token == found.sampled for found in several):
        source.warnings.append(_LOST)
        for found in several:
            found.sampled, found.ranking = None, Ranking.SET
    return listed_file(source, lists, numbers, reading)


def _id(node: Node) -> int:
    return node.member("id").token_id()


ANSWERS = (AnswerFormat("mlx-server", _TITLE, recognises, read),)
