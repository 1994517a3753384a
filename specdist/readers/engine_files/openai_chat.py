"""Chat answers of the OpenAI shape that name tokens by bytes or text alone.

OpenAI, Azure, OpenRouter, watsonx, SGLang, LMDeploy and llama-cpp-python write them. The list is
the likeliest tokens, the sampled one perhaps beside it (LMDeploy leaves it out). -9999.0 is a
sampled token outside the list, of unknown probability (OpenAI's reference of chat completions), so
it is taken for that and never for 0. The size of the vocabulary is not in the file.
"""

from __future__ import annotations

from typing import Any

from specdist.model.row import Stage
from specdist.model.settings import ReadingSettings
from specdist.readers.engine_files.answers import (
    content_lists,
    describe,
    label_of,
    raw_choices,
    raw_content,
    whole_answer,
)
from specdist.readers.engine_files.engine_file import AnswerFormat, EngineFile
from specdist.readers.engine_files.json_node import Node
from specdist.readers.engine_files.list_evidence import StageClaim
from specdist.readers.engine_files.listed_file import ListedSource, listed_file
from specdist.readers.engine_files.logprob_lists import (
    Ranking,
    TokenList,
    number_of,
    values_of,
)
from specdist.readers.engine_files.logprob_numbers import LogprobNumbers

_TITLE = "chat answer of the OpenAI shape"
SERVED = StageClaim(
    Stage.RAW,
    "the answer does not say it; values at temperature 1 are usual, not promised",
    True,
)
_SGLANG = StageClaim(
    Stage.TEMPERATURE, "SGLang's endpoints give values after the temperature, unfiltered", True
)


def recognises(value: Any) -> bool:
    """Whether a list of texts stands in a choice."""
    if not whole_answer(value):
        return False
    choices = raw_choices(value)
    found = raw_content(choices)
    return any("logprob" in item and "token" in item and not _has_id(item) for item in found)


def served_by(value: Any) -> StageClaim:
    """The stage that the answer's server is known for."""
    sglang = any("matched_stop" in choice for choice in raw_choices(value))
    return _SGLANG if sglang else SERVED


def _has_id(item: dict[str, Any]) -> bool:
    return "token_id" in item or "id" in item


def read(value: Any, name: str, reading: ReadingSettings) -> EngineFile:
    """Rows over labels. Raises CaptureError and RowError."""
    document = Node(value, name)
    source = ListedSource(name, "openai-chat", _TITLE, SERVED, may_be_logits=True, service=True)
    describe(document, source)
    source.stage = served_by(value)
    numbers = LogprobNumbers(floor_is_zero=False)
    lists: list[TokenList] = []
    contents = [
        content
        for choice in document.member("choices").items()
        if (content := _content(choice)) is not None
    ]
    for sequence, content in enumerate(contents):
        lists += content_lists(content, (sequence, 0), label_of, numbers, Ranking.LIKELIEST)
    say_lists(contents, lists, source)
    return listed_file(source, lists, numbers, reading)


def _content(choice: Node) -> Node | None:
    """The tokens of the answer, or of a refusal."""
    logprobs = choice.optional("logprobs")
    if logprobs is None:
        return None
    return logprobs.optional("content") or logprobs.optional("refusal")


def say_lists(contents: list[Node], lists: list[TokenList], source: ListedSource) -> None:
    """Counts lists without their sampled token, and takes no bound from a list that is shorter
    than others: what it lacks is not said. LMDeploy's lack the sampled token alone, which is then
    likelier than the last of the list."""
    items = [item for content in contents for item in content.items()]
    tops = [_listed(item) for item in items]
    outside = [bool(top) and not _holds(item, top) for item, top in zip(items, tops, strict=True)]
    if any(outside):
        source.shown.append(("outside their list", f"{sum(outside)} sampled tokens"))
    longest = max(map(len, tops), default=0)
    short = 0
    for found, top, apart in zip(lists, tops, outside, strict=True):
        own = number_of(found.own())
        lacks_own = apart and own is not None and own > min(values_of(found.others()), default=own)
        if len(top) < longest and not lacks_own:
            found.ranking = Ranking.UNKNOWN
            short += 1
    if short:
        source.warnings.append(
            f"{short} lists are shorter than the {longest} tokens of others: nothing bounds "
            "unlisted tokens one by one there"
        )


def _listed(item: Node) -> list[dict[str, Any]]:
    tops = item.optional("top_logprobs")
    return [] if tops is None else [node.fields() for node in tops.items()]


def _holds(item: Node, tops: list[dict[str, Any]]) -> bool:
    keys = ("token", "bytes")
    own = [item.fields().get(key) for key in keys]
    return any([top.get(key) for key in keys] == own for top in tops)


ANSWERS = (AnswerFormat("openai-chat", _TITLE, recognises, read),)
