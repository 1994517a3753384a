"""vLLM's offline objects, dumped as dictionaries: ``[{"N": {"logprob", "rank"}}, ...]``.

Such a list may stand alone, one list a sequence, inside a dumped ``CompletionOutput``
(``token_ids`` and ``logprobs``), or in the ``outputs`` of a dumped ``RequestOutput`` beside
``prompt_token_ids`` and ``prompt_logprobs``. TensorRT-LLM's LLM API returns the same objects.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from specdist.model.settings import ReadingSettings
from specdist.readers.engine_files.engine_file import AnswerFormat, EngineFile
from specdist.readers.engine_files.json_node import Node, same_length
from specdist.readers.engine_files.listed_file import ListedSource, listed_file
from specdist.readers.engine_files.logprob_lists import TokenList
from specdist.readers.engine_files.logprob_numbers import LogprobNumbers
from specdist.readers.engine_files.vllm_answers import (
    keep_text,
    named,
    object_list,
    prompt_lists,
    prompt_of,
    start_of,
    vllm_source,
)

_TITLE = "log-probabilities of vLLM's offline objects"


def recognises(value: Any) -> bool:
    """Whether the first position is an object of ids and Logprob objects."""
    return _first_position(value) is not None


def _first_position(value: Any, depth: int = 0) -> dict[str, Any] | None:
    if isinstance(value, dict):
        if _is_position(value):
            return value
        for key in ("outputs", "logprobs", "prompt_logprobs"):
            if isinstance(value.get(key), list) and "choices" not in value:
                found = _first_position(value[key], depth + 1)
                if found is not None:
                    return found
    if isinstance(value, list) and depth < 4:
        return next((x for x in (_first_position(y, depth + 1) for y in value[:2]) if x), None)
    return None


def _is_position(value: dict[str, Any]) -> bool:
    key = next(iter(value), "")
    found = value.get(key)
    return key.isascii() and key.isdigit() and isinstance(found, dict) and "logprob" in found


def read(value: Any, name: str, reading: ReadingSettings) -> EngineFile:
    """Rows of every sequence. Raises CaptureError and RowError."""
    document = Node(value, name)
    source = vllm_source(document, "vllm-offline", _TITLE)
    numbers = LogprobNumbers(floor_is_zero=True)
    sequences = list(_sequences(document))
    lists = [
        found
        for sequence, node in enumerate(sequences)
        for found in _lists(node, sequence, source, numbers)
    ]
    return listed_file(source, lists, numbers, reading)


def _sequences(node: Node) -> Iterator[tuple[Node | None, Node]]:
    """Pairs of a request (or None) and an output of it, or a bare list of positions."""
    if isinstance(node.value, dict):
        outputs = node.optional("outputs")
        if outputs is None:
            yield None, node
            return
        yield from ((node, output) for output in outputs.items())
        return
    items = node.items()
    if any(isinstance(item.value, dict) and _is_position(item.value) for item in items[:2]):
        yield None, node
        return
    for item in items:
        yield from _sequences(item)


def _lists(
    pair: tuple[Node | None, Node], sequence: int, source: ListedSource, numbers: LogprobNumbers
) -> list[TokenList]:
    request, output = pair
    if not isinstance(output.value, dict):
        return list(_bare(output, sequence, numbers))
    holder = output if request is None else request
    prompt = prompt_of(holder, holder)
    before = holder.optional("prompt_logprobs")
    lists: list[TokenList] = []
    if before is not None and (request is None or output.path.endswith("outputs[0]")):
        lists += prompt_lists(before, sequence, prompt, numbers)
    if output.optional("logprobs") is not None:
        lists += _written(output, (sequence, start_of(prompt, before)), numbers)
    return keep_text(source, sequence, prompt, lists)


def _written(output: Node, at: tuple[int, int], numbers: LogprobNumbers) -> Iterator[TokenList]:
    logprobs, written = output.member("logprobs"), output.optional("token_ids")
    if written is not None:
        same_length(written, logprobs)
    ids = None if written is None else written.token_ids()
    for index, item in enumerate(logprobs.items()):
        found = object_list(item, at[0], at[1] + index, numbers)
        if ids is not None:
            named(found, ids[index], item)
        yield found


def _bare(node: Node, sequence: int, numbers: LogprobNumbers) -> Iterator[TokenList]:
    """A list of positions alone; one that begins with null is that of a prompt."""
    items = node.items()
    if items and items[0].value is None:
        yield from prompt_lists(node, sequence, None, numbers)
        return
    for index, item in enumerate(items):
        yield object_list(item, sequence, index, numbers)


ANSWERS = (AnswerFormat("vllm-offline", _TITLE, recognises, read),)
