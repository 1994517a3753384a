"""Completions of the OpenAI shape, keyed by text: OpenAI, SGLang, llama-cpp-python and copies.

``top_logprobs`` are objects whose keys are texts, so two tokens of one text are one entry, and
nothing bounds a single token that is not listed. llama-cpp-python (`llama.py`, 0.3.36) normalises
the raw logits whatever the sampling; its values are numpy numbers, which some programs save as
texts: they are read, and counted.
"""

from __future__ import annotations

import re
from typing import Any

from specdist.model.row import Stage
from specdist.model.settings import ReadingSettings
from specdist.readers.engine_files.answers import describe, raw_arrays, raw_choices, whole_answer
from specdist.readers.engine_files.engine_file import AnswerFormat, EngineFile
from specdist.readers.engine_files.json_node import Node
from specdist.readers.engine_files.list_evidence import StageClaim
from specdist.readers.engine_files.listed_file import ListedSource
from specdist.readers.engine_files.logprob_numbers import LogprobNumbers
from specdist.readers.engine_files.openai_chat import served_by
from specdist.readers.engine_files.text_keys import text_file

_TITLE = "completions of the OpenAI shape, keyed by text"
_LLAMA = "completions of llama-cpp-python, keyed by text"
_LLAMA_ID = re.compile(r"cmpl-[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_RAW = StageClaim(
    Stage.RAW, "llama-cpp-python normalises the raw logits, whatever the sampling", False
)
_ADVICE = "ask a server that returns ids"


def recognises(value: Any) -> bool:
    """Whether the arrays of legacy completions stand in a choice."""
    return whole_answer(value) and bool(raw_arrays(raw_choices(value)))


def recognises_llama(value: Any) -> bool:
    """Whether such an answer has a model file of llama.cpp, or llama-cpp-python's kind of id."""
    if not recognises(value):
        return False
    model, ident = str(value.get("model")), str(value.get("id"))
    return model.endswith(".gguf") or _LLAMA_ID.fullmatch(ident) is not None


def read(value: Any, name: str, reading: ReadingSettings) -> EngineFile:
    """Rows over texts. Raises CaptureError and RowError."""
    source = ListedSource(
        name, "openai-completions", _TITLE, served_by(value), service=True, advice=_ADVICE
    )
    return _read(Node(value, name), source, reading)


def read_llama(value: Any, name: str, reading: ReadingSettings) -> EngineFile:
    """Rows over texts. Raises CaptureError and RowError."""
    advice = "save Llama(logits_all=True).scores, cut at n_tokens, as .npy"
    source = ListedSource(name, "llama-cpp-python", _LLAMA, _RAW, advice=advice)
    return _read(Node(value, name), source, reading)


def _read(document: Node, source: ListedSource, reading: ReadingSettings) -> EngineFile:
    describe(document, source)
    return text_file(document, source, LogprobNumbers(floor_is_zero=False, texts=True), reading)


ANSWERS = (
    AnswerFormat("llama-cpp-python", _LLAMA, recognises_llama, read_llama),
    AnswerFormat("openai-completions", _TITLE, recognises, read),
)
