"""Every format of an engine's answers, the most telling keys first."""

from __future__ import annotations

from typing import Any

from specdist.readers.engine_files.engine_file import AnswerFormat, LinesFormat

_ANSWERS: tuple[str, ...] = (
    "lmdeploy",
    "sglang",
    "llama_server",
    "llama_server_old",
    "ollama",
    "tgi",
    "vllm_flat",
    "vllm_generate",
    "vllm_completions",
    "vllm_chat",
    "vllm_prompt",
    "vllm_offline",
    "fastdeploy",
    "gemini",
    "openai_responses",
    "fireworks",
    "together",
    "mlx_server",
    "openai_chat",
    "openai_completions",
    "table_lines",
    "no_logprobs",
)
"""Modules of this package with a tuple ``ANSWERS`` of formats, in the order they are asked."""

_LINES: tuple[str, ...] = ("ollama", "table_lines")
"""Modules of this package with a tuple ``LINES`` of formats."""


def answer_formats() -> tuple[AnswerFormat, ...]:
    """The formats of JSON documents, in the order in which they are asked."""
    return tuple(item for name in _ANSWERS for item in _module(name).ANSWERS)


def lines_formats() -> tuple[LinesFormat, ...]:
    """The formats of JSON lines, in the order in which they are asked."""
    return tuple(item for name in _LINES for item in _module(name).LINES)


def answer_format(value: Any, named: str | None = None) -> AnswerFormat | None:
    """The format of a parsed document, or None where no engine writes such. ``named``: the format
    that the user says it is, which no other one replaces."""
    if is_engine_format(named):
        return next((item for item in answer_formats() if item.name == named), None)
    return next((item for item in answer_formats() if item.recognises(value)), None)


def lines_format(first: Any, named: str | None = None) -> LinesFormat | None:
    """The format of JSON lines that begin with the value ``first``; ``named`` as above."""
    if is_engine_format(named):
        return next((item for item in lines_formats() if item.name == named), None)
    return next((item for item in lines_formats() if item.recognises(first)), None)


def is_engine_format(named: str | None) -> bool:
    """Whether a name is that of a format here, whose files are JSON."""
    names = {form.name for form in answer_formats()} | {form.name for form in lines_formats()}
    return named in names


def _module(name: str) -> Any:
    from importlib import import_module

    return import_module(f"{__package__}.{name}")
