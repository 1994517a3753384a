"""FastDeploy's chat answers with ``draft_logprobs`` beside ``logprobs``: target and draft at once.

Asked for with include_draft_logprobs. Both are lists of the OpenAI shape, the sampled token with
the likeliest beside it (`entrypoints/openai/serving_chat.py`). A text that shows undecoded bytes is
written as ``bytes:...`` there, while its ``bytes`` are those of U+FFFD.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from specdist.model.settings import ReadingSettings
from specdist.readers.engine_files.answers import (
    content_lists,
    describe,
    label_of,
    raw_choices,
    raw_content,
)
from specdist.readers.engine_files.engine_file import AnswerFormat, EngineFile
from specdist.readers.engine_files.json_node import Node
from specdist.readers.engine_files.listed_file import ListedSource, as_draft, listed_file
from specdist.readers.engine_files.logprob_lists import Ranking, TokenList
from specdist.readers.engine_files.logprob_numbers import LogprobNumbers
from specdist.readers.engine_files.openai_chat import SERVED, say_lists

_TITLE = "chat answer of FastDeploy"
_PLACES = (
    "the rows of draft_logprobs are taken to stand where those of logprobs stand: the answer does "
    "not say which step a row is of"
)


def recognises(value: Any) -> bool:
    """Whether a choice has lists of the draft."""
    return bool(raw_content(raw_choices(value), "draft_logprobs"))


def read(value: Any, name: str, reading: ReadingSettings) -> EngineFile:
    """The target's rows, and the draft's as `EngineFile.draft`. Raises CaptureError and
    RowError."""
    document = Node(value, name)
    target = _side(document, "logprobs", "target", reading)
    draft = as_draft(_side(document, "draft_logprobs", "draft", reading))
    if target.count != draft.count:
        raise document.error(
            f"{target.count} positions of the target and {draft.count} of the draft",
            expected="one row of either model a position",
            advice="which of them belong together is not in the answer",
        )
    return replace(target, draft=draft, warnings=(*target.warnings, _PLACES))


def _side(document: Node, key: str, side: str, reading: ReadingSettings) -> EngineFile:
    source = ListedSource(document.file, "fastdeploy", f"{_TITLE}, {side}", SERVED)
    if side == "target":
        describe(document, source)
    numbers = LogprobNumbers(floor_is_zero=False)
    lists: list[TokenList] = []
    contents: list[Node] = []
    for sequence, choice in enumerate(document.member("choices").items()):
        logprobs = choice.optional(key)
        if logprobs is None:
            continue
        contents.append(logprobs.member("content"))
        at = (sequence, 0)
        lists += content_lists(contents[-1], at, label_of, numbers, Ranking.LIKELIEST)
    say_lists(contents, lists, source)
    return listed_file(source, lists, numbers, reading)


ANSWERS = (AnswerFormat("fastdeploy", _TITLE, recognises, read),)
