"""``prompt_logprobs`` of vLLM, alone or beside the tokens that were generated.

With -1 every token is listed, for any text and any model: the simplest complete capture of target
and draft on one text. Values are raw in every mode.
"""

from __future__ import annotations

from typing import Any

from specdist.model.settings import ReadingSettings
from specdist.readers.engine_files.engine_file import AnswerFormat, EngineFile
from specdist.readers.engine_files.json_node import Node
from specdist.readers.engine_files.listed_file import listed_file
from specdist.readers.engine_files.logprob_numbers import LogprobNumbers
from specdist.readers.engine_files.vllm_answers import prompt_lists, prompt_of, vllm_source

_TITLE = "prompt_logprobs of vLLM"


def recognises(value: Any) -> bool:
    """Whether ``prompt_logprobs`` stand at the top, and no choices beside them."""
    if not isinstance(value, dict) or "choices" in value or "outputs" in value:
        return False
    return isinstance(value.get("prompt_logprobs"), list)


def read(value: Any, name: str, reading: ReadingSettings) -> EngineFile:
    """Rows for every token of the prompt but the first. Raises CaptureError and RowError."""
    document = Node(value, name)
    source = vllm_source(document, "vllm-prompt", _TITLE)
    numbers = LogprobNumbers(floor_is_zero=True)
    prompt = prompt_of(document, document)
    if prompt is not None:
        source.tokens[0] = prompt
    lists = list(prompt_lists(document.member("prompt_logprobs"), 0, prompt, numbers))
    return listed_file(source, lists, numbers, reading)


ANSWERS = (AnswerFormat("vllm-prompt", _TITLE, recognises, read),)
