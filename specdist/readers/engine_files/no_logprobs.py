"""Answers that hold no log-probabilities: recognised to say so, and what to ask for."""

from __future__ import annotations

from typing import Any, NoReturn

from specdist.errors import NotACaptureError
from specdist.model.settings import ReadingSettings
from specdist.readers.engine_files.answers import raw_choices
from specdist.readers.engine_files.engine_file import AnswerFormat

_COUNTED = ("metrics", "timings")
"""Fields with counts of a speculative run, which are read elsewhere."""


def _is_anthropic(value: Any) -> bool:
    return (
        isinstance(value, dict)
        and value.get("type") == "message"
        and isinstance(value.get("content"), list)
        and "stop_reason" in value
    )


def _refuse_anthropic(value: Any, name: str, reading: ReadingSettings) -> NoReturn:
    raise NotACaptureError(
        "an answer of Anthropic's service, which returns no log-probabilities",
        place=name,
        expected="an engine that returns them",
        advice="no request makes this service return them",
    )


def _is_chunk(value: Any) -> bool:
    return isinstance(value, dict) and str(value.get("object", "")).endswith(".chunk")


def _refuse_chunk(value: Any, name: str, reading: ReadingSettings) -> NoReturn:
    raise NotACaptureError(
        "one piece of a streamed answer",
        place=name,
        expected="a whole answer",
        advice="ask without stream, or join the pieces",
    )


def _is_without(value: Any) -> bool:
    choices = raw_choices(value)
    if not choices or any(value.get(key) is not None for key in _COUNTED):
        return False
    return all("text" in choice or "message" in choice for choice in choices)


def _refuse_without(value: Any, name: str, reading: ReadingSettings) -> NoReturn:
    raise NotACaptureError(
        "an answer without log-probabilities",
        place=f"{name}, choices",
        expected="logprobs in a choice",
        advice="ask with logprobs: true and top_logprobs, or logprobs: 5 for completions",
    )


def _is_gemini(value: Any) -> bool:
    found = value.get("candidates") if isinstance(value, dict) else None
    return (
        isinstance(found, list)
        and bool(found)
        and all(isinstance(item, dict) and "content" in item for item in found)
    )


def _refuse_gemini(value: Any, name: str, reading: ReadingSettings) -> NoReturn:
    raise NotACaptureError(
        "an answer of Gemini without log-probabilities",
        place=f"{name}, candidates",
        expected="logprobsResult in a candidate",
        advice="ask with responseLogprobs: true and logprobs: 5 in generationConfig",
    )


ANSWERS = (
    AnswerFormat("anthropic", "answer of Anthropic", _is_anthropic, _refuse_anthropic),
    AnswerFormat("streamed", "piece of a streamed answer", _is_chunk, _refuse_chunk),
    AnswerFormat("gemini-plain", "answer of Gemini", _is_gemini, _refuse_gemini),
    AnswerFormat("answer-plain", "answer without logprobs", _is_without, _refuse_without),
)
