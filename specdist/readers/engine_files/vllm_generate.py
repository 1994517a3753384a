"""vLLM's server of tokens in, tokens out: integer ids, ranks, and the support after sampling.

``sampling_mask`` lists, for every written token, the ids that survived top-k, top-p and min-p. It
exists in logprobs_mode processed_logprobs only (`token_in_token_out/protocol.py`, 0.33), so the
stage is certain, and where every id of the mask is listed the processed law is complete.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from specdist.model.row import Stage
from specdist.model.settings import ReadingSettings
from specdist.readers.engine_files.answers import content_lists, raw_choices, raw_content
from specdist.readers.engine_files.engine_file import AnswerFormat, EngineFile
from specdist.readers.engine_files.json_node import Node, same_length
from specdist.readers.engine_files.list_evidence import StageClaim
from specdist.readers.engine_files.listed_file import ListedSource, listed_file
from specdist.readers.engine_files.logprob_lists import Ranking, TokenList
from specdist.readers.engine_files.logprob_numbers import LogprobNumbers
from specdist.readers.engine_files.vllm_answers import (
    keep_text,
    prompt_lists,
    prompt_of,
    start_of,
    vllm_source,
)

_TITLE = "answer of vLLM's generate server"
_MASKED = StageClaim(
    Stage.PROCESSED, "a sampling_mask exists in logprobs_mode processed_logprobs only", False
)


def _choices(value: Any) -> list[dict[str, Any]]:
    """The choices of an answer, or the one choice that was saved alone."""
    alone = isinstance(value, dict) and "choices" not in value
    return [value] if alone else raw_choices(value)


def recognises(value: Any) -> bool:
    """Whether entries have ids and no texts, or a sampling mask or packed arrays stand there."""
    choices = _choices(value)
    if any("sampling_mask" in choice or "compact_logprobs" in choice for choice in choices):
        return any("logprobs" in choice for choice in choices)
    return any("token_id" in item and "token" not in item for item in raw_content(choices))


def read(value: Any, name: str, reading: ReadingSettings) -> EngineFile:
    """Rows over ids. Raises CaptureError and RowError."""
    document = Node(value, name)
    source = vllm_source(document, "vllm-generate", _TITLE)
    numbers = LogprobNumbers(floor_is_zero=True)
    alone = "choices" not in document.fields()
    choices = [document] if alone else document.member("choices").items()
    lists: list[TokenList] = []
    for sequence, choice in enumerate(choices):
        lists += _choice(choice, document, sequence, source, numbers)
    masked = [found.support is not None for found in lists if found.drawn]
    if any(masked):
        source.stage = _MASKED
        listed = sum(
            set(found.support) <= {entry.token for entry in found.entries}
            for found in lists
            if found.support is not None
        )
        source.shown.append(("whole support listed", f"at {listed} of {sum(masked)} positions"))
    return listed_file(source, lists, numbers, reading)


def _choice(
    choice: Node, document: Node, sequence: int, source: ListedSource, numbers: LogprobNumbers
) -> list[TokenList]:
    if choice.has("compact_logprobs"):
        raise choice.error(
            "packed arrays (compact_logprobs)", advice='ask for logprobs_format "openai"'
        )
    prompt = prompt_of(choice, document)
    before = document.optional("prompt_logprobs")
    lists: list[TokenList] = []
    if before is not None and sequence == 0:
        lists += prompt_lists(before, sequence, prompt, numbers)
    if choice.optional("logprobs") is not None:
        lists += _written(choice, (sequence, start_of(prompt, before)), numbers)
    return keep_text(source, sequence, prompt, lists)


def _written(choice: Node, at: tuple[int, int], numbers: LogprobNumbers) -> Iterator[TokenList]:
    content = choice.member("logprobs").member("content")
    mask, written = choice.optional("sampling_mask"), choice.optional("token_ids")
    same_length(content, *(node for node in (mask, written) if node is not None))
    ids = None if written is None else written.token_ids()
    masks = None if mask is None else mask.items()
    for index, found in enumerate(content_lists(content, at, _id, numbers, Ranking.CUT)):
        if ids is not None and found.sampled != ids[index]:
            raise content.items()[index].error(
                f"the entry of token {found.sampled!r}, where token_ids has {ids[index]}"
            )
        yield found if masks is None else _supported(found, masks[index])


def _supported(found: TokenList, mask: Node) -> TokenList:
    if mask.value is None:
        return replace(found, refused="there is no sampling mask at this position")
    support = mask.token_ids()
    if len(set(support)) < len(support):
        raise mask.error("an id stands in the mask twice", expected="each id once")
    if found.sampled not in support:
        raise mask.error(
            f"token {found.sampled!r} was sampled, and the mask lacks it",
            expected="a mask with the sampled token",
        )
    found.support = tuple(sorted(support))
    return found


def _id(node: Node) -> int:
    return node.member("token_id").token_id()


ANSWERS = (AnswerFormat("vllm-generate", _TITLE, recognises, read),)
