"""Completions of vLLM's OpenAI server: ``choices[].logprobs`` with tokens, values and lists.

With return_tokens_as_token_ids the keys are ``token_id:N`` and nothing is lost. Without it they are
decoded texts: ids with one text overwrite one another, the place of the first kept with the value
of the last, so such lists are labels with values and never a law (field case: 61 keys for 64 ids).
"""

from __future__ import annotations

from typing import Any

from specdist.model.settings import ReadingSettings
from specdist.readers.engine_files.answers import (
    array_lists,
    id_of,
    is_token_id,
    raw_arrays,
    raw_choices,
    whole_answer,
)
from specdist.readers.engine_files.engine_file import AnswerFormat, EngineFile
from specdist.readers.engine_files.json_node import Node
from specdist.readers.engine_files.listed_file import ListedSource, listed_file
from specdist.readers.engine_files.logprob_lists import Ranking, TokenList
from specdist.readers.engine_files.logprob_numbers import LogprobNumbers
from specdist.readers.engine_files.text_keys import text_file
from specdist.readers.engine_files.vllm_answers import (
    ADVICE,
    keep_text,
    prompt_lists,
    prompt_of,
    says_vllm,
    start_of,
    vllm_source,
)

_BY_ID = "completions of vLLM, keyed by token id"
_BY_TEXT = "completions of vLLM, keyed by text"
_LEFT_OUT = (
    "generated tokens are keyed by text and left out: only the rows of the prompt have ids; "
    f"{ADVICE}"
)


def recognises_ids(value: Any) -> bool:
    """Whether tokens are written as ``token_id:N``, or the prompt's lists stand in the choices."""
    if not whole_answer(value):
        return False
    choices = raw_choices(value)
    prompts = any(isinstance(choice.get("prompt_logprobs"), list) for choice in choices)
    return prompts or any(is_token_id(_first(item)) for item in raw_arrays(choices))


def recognises_texts(value: Any) -> bool:
    """Whether an answer with texts has the fields of vLLM's answers."""
    choices = raw_choices(value)
    return bool(raw_arrays(choices)) and any(says_vllm(value, choice) for choice in choices)


def _first(arrays: dict[str, Any]) -> Any:
    return arrays["tokens"][0] if arrays["tokens"] else None


def read_ids(value: Any, name: str, reading: ReadingSettings) -> EngineFile:
    """Rows of prompt and answer over ids. Raises CaptureError and RowError."""
    document = Node(value, name)
    source = vllm_source(document, "vllm-completions", _BY_ID)
    numbers = LogprobNumbers(floor_is_zero=True)
    lists: list[TokenList] = []
    for sequence, choice in enumerate(document.member("choices").items()):
        lists += _choice(choice, document, sequence, source, numbers)
    return listed_file(source, lists, numbers, reading)


def _choice(
    choice: Node, document: Node, sequence: int, source: ListedSource, numbers: LogprobNumbers
) -> list[TokenList]:
    before = choice.optional("prompt_logprobs")
    prompt = prompt_of(choice, document)
    lists: list[TokenList] = []
    if before is not None:
        lists += prompt_lists(before, sequence, prompt, numbers)
    logprobs = choice.optional("logprobs")
    if logprobs is not None and before is not None and not is_token_id(_first(logprobs.fields())):
        source.warnings.append(_LEFT_OUT)
    elif logprobs is not None and _echoes(logprobs):
        return _echoed(logprobs, document, sequence, source, numbers)
    elif logprobs is not None:
        at = (sequence, start_of(prompt, before))
        lists += array_lists(logprobs, at, id_of, numbers, Ranking.MERGED)
    return keep_text(source, sequence, prompt, lists)


def _echoes(logprobs: Node) -> bool:
    """Whether the arrays begin with the prompt (``echo``): its first token has no value."""
    values = logprobs.member("token_logprobs").items()
    return bool(values) and values[0].value is None


def _echoed(
    logprobs: Node, document: Node, sequence: int, source: ListedSource, numbers: LogprobNumbers
) -> list[TokenList]:
    """Prompt and answer in one run of arrays. Where the prompt ends is known of one choice only,
    by the count of its tokens."""
    lists = list(array_lists(logprobs, (sequence, 0), id_of, numbers, Ranking.MERGED))
    tokens = logprobs.member("tokens").items()
    source.tokens[sequence] = tuple(id_of(token.text(), token) for token in tokens)
    usage = document.optional("usage")
    count = None if usage is None else usage.optional("prompt_tokens")
    if count is not None and len(document.member("choices").items()) == 1:
        for found in lists:
            found.drawn = type(count.value) is int and found.index >= count.value
    return lists


def read_texts(value: Any, name: str, reading: ReadingSettings) -> EngineFile:
    """Rows over texts. Raises CaptureError and RowError."""
    document = Node(value, name)
    source = vllm_source(document, "vllm-completions-text", _BY_TEXT)
    numbers = LogprobNumbers(floor_is_zero=True)
    return text_file(document, source, numbers, reading)


ANSWERS = (
    AnswerFormat("vllm-completions", _BY_ID, recognises_ids, read_ids),
    AnswerFormat("vllm-completions-text", _BY_TEXT, recognises_texts, read_texts),
)
