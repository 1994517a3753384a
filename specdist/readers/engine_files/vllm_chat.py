"""Chat answers of vLLM: ``choices[].logprobs.content[]``, lists cut to the number asked for.

The list holds the sampled token first, then the likeliest, and is cut to k: where the sampled
token is not among the k likeliest, the k-th likeliest is missing, and may exceed every bound taken
from the smallest listed value (`chat_completion/serving.py`, 0.33).
"""

from __future__ import annotations

from typing import Any

from specdist.model.settings import ReadingSettings
from specdist.readers.engine_files.answers import (
    content_lists,
    id_of,
    is_token_id,
    label_of,
    raw_choices,
    raw_content,
    whole_answer,
)
from specdist.readers.engine_files.engine_file import AnswerFormat, EngineFile
from specdist.readers.engine_files.json_node import Node
from specdist.readers.engine_files.listed_file import ListedSource, listed_file
from specdist.readers.engine_files.logprob_lists import Ranking, TokenList
from specdist.readers.engine_files.logprob_numbers import LogprobNumbers
from specdist.readers.engine_files.vllm_answers import (
    keep_text,
    prompt_lists,
    prompt_of,
    says_vllm,
    start_of,
    vllm_source,
)

_BY_ID = "chat answer of vLLM, tokens as ids"
_BY_TEXT = "chat answer of vLLM, tokens as texts"
_LEFT_OUT = (
    "generated tokens are written as texts and left out: only the rows of the prompt have ids; "
    "ask for return_tokens_as_token_ids"
)


def recognises_ids(value: Any) -> bool:
    """Whether tokens are written as ``token_id:N``, or the prompt's lists stand beside choices."""
    if not whole_answer(value):
        return False
    ids = any(is_token_id(item.get("token")) for item in raw_content(raw_choices(value)))
    return ids or isinstance(value.get("prompt_logprobs"), list)


def recognises_texts(value: Any) -> bool:
    """Whether an answer with texts has the fields of vLLM's answers."""
    choices = raw_choices(value)
    return bool(raw_content(choices)) and any(says_vllm(value, choice) for choice in choices)


def read_ids(value: Any, name: str, reading: ReadingSettings) -> EngineFile:
    """Rows of prompt and answer over ids. Raises CaptureError and RowError."""
    document = Node(value, name)
    source = vllm_source(document, "vllm-chat", _BY_ID)
    numbers = LogprobNumbers(floor_is_zero=True)
    lists: list[TokenList] = []
    for sequence, choice in enumerate(document.member("choices").items()):
        lists += _choice(choice, document, sequence, source, numbers)
    return listed_file(source, lists, numbers, reading)


def _choice(
    choice: Node, document: Node, sequence: int, source: ListedSource, numbers: LogprobNumbers
) -> list[TokenList]:
    before = document.optional("prompt_logprobs")
    prompt = prompt_of(choice, document)
    lists: list[TokenList] = []
    if before is not None and sequence == 0:
        lists += prompt_lists(before, sequence, prompt, numbers)
    logprobs = choice.optional("logprobs")
    content = None if logprobs is None else logprobs.optional("content")
    if content is not None and before is not None and not is_token_id(_first(content)):
        source.warnings.append(_LEFT_OUT)
    elif content is not None:
        at = (sequence, start_of(prompt, before))
        lists += content_lists(content, at, _id, numbers, Ranking.CUT)
    return keep_text(source, sequence, prompt, lists)


def _first(content: Node) -> Any:
    items = content.items()
    return items[0].fields().get("token") if items else None


def _id(node: Node) -> int:
    token = node.member("token")
    return id_of(token.text(), token)


def read_texts(value: Any, name: str, reading: ReadingSettings) -> EngineFile:
    """Rows over texts, or their bytes. Raises CaptureError and RowError."""
    document = Node(value, name)
    source = vllm_source(document, "vllm-chat-text", _BY_TEXT)
    numbers = LogprobNumbers(floor_is_zero=True)
    lists: list[TokenList] = []
    for sequence, choice in enumerate(document.member("choices").items()):
        logprobs = choice.optional("logprobs")
        content = None if logprobs is None else logprobs.optional("content")
        if content is not None:
            lists += content_lists(content, (sequence, 0), label_of, numbers, Ranking.CUT)
    return listed_file(source, lists, numbers, reading)


ANSWERS = (
    AnswerFormat("vllm-chat", _BY_ID, recognises_ids, read_ids),
    AnswerFormat("vllm-chat-text", _BY_TEXT, recognises_texts, read_texts),
)
