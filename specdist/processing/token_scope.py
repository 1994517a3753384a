"""Which earlier tokens a penalty counts: the history, its scope and the drafted tokens."""

from __future__ import annotations

import re

from specdist.errors import SettingsError
from specdist.model.recipe import Argument, RecipeStep
from specdist.model.step_forms import Option
from specdist.model.value_texts import count_from, one_of, read_ids, shortened
from specdist.processing.context import RowContext
from specdist.processing.processor import check_ids

FROM_CONTEXT = "context"
_LAST = re.compile(r"last-([1-9]\d{0,8})", flags=re.ASCII)


def _read_scope(label: str, text: str) -> str:
    written = text.strip()
    if written not in ("all", "output") and not _LAST.fullmatch(written):
        raise SettingsError(
            f"{label}={shortened(text)} is not a scope",
            expected="all, output or last-N with N at least 1, such as last-64",
        )
    return written


def _read_history(label: str, text: str) -> Argument:
    return FROM_CONTEXT if text.strip() == FROM_CONTEXT else read_ids(label, text)


DRAFTS_OPTION = Option(
    "drafts",
    one_of("counted", "frozen"),
    "counted",
    "whether draft tokens earlier in the block count as output",
)

SCOPE_OPTIONS = (
    Option("scope", _read_scope, "all", "all (prompt and output), output, or last-N"),
    DRAFTS_OPTION,
    Option(
        "history", _read_history, FROM_CONTEXT, "token ids instead of the capture's context: 1+2+3"
    ),
    Option("prompt", count_from(0), 0, "how many tokens of an explicit history are the prompt"),
)

SCOPE_PAGE = """\
scope=all         (default) prompt and output count.
scope=output      only the output counts; the prompt length must be known.
scope=last-N      only the last N tokens count, drafted ones included.
drafts=counted    (default) draft tokens earlier in the block count as output.
drafts=frozen     they do not: every position of the block has one history.
history=1+2+3     these tokens instead of the capture's context; prompt=N says
                  that the first N of them are the prompt (default 0).
No history at all is an error, and so is an id outside the vocabulary.
"""

ADDITIVE_ENGINES = """\
engines
  output        vLLM 0.33.0 v1/sample/ops/penalties.py, SGLang 0.5.23
                srt/sampling/penaltylib
  last-64       llama.cpp 0c1e57098 src/llama-sampler.cpp
  last-20       mlx-lm 0.32.2 sample_utils.py
  all           exllamav3 1.6.5; TensorRT-LLM penaltyKernels.cu, after T
  none          transformers 5.24.0 and Ollama have no such penalty
"""
"""Which engines have presence and frequency penalties, by the scope they count."""


def counted_tokens(step: RecipeStep, context: RowContext, size: int) -> tuple[int, ...]:
    """The tokens that a penalty counts, repeats included, in their order.

    Raises `SettingsError` when no history is known, when the scope needs a prompt length that is
    not, and for ids outside a vocabulary of ``size``.
    """
    tokens, prompt_length = _history(step, context)
    check_ids(step, tokens, size, "of the history")
    scope = step.word("scope")
    if scope == "output":
        if prompt_length is None:
            raise SettingsError(
                f"{step.name} counts the output, and the length of the prompt is not known",
                expected="a capture with prompt_length",
                advice="give --prompt-length N (and --history 1,2,3), or write both into the step: "
                f"{step.text}:history=1+2+3:prompt=1",
            )
        tokens = tokens[prompt_length:]
    tokens += _drafted(step, context, size)
    last = _LAST.fullmatch(scope)
    return tokens[-int(last[1]) :] if last else tokens


def output_length(step: RecipeStep, context: RowContext, size: int) -> int:
    """How many tokens of output come before this position. Raises `SettingsError` if unknown."""
    drafted = len(_drafted(step, context, size))
    history = context.history
    if history is None or history.prompt_length is None:
        raise SettingsError(
            f"{step.name} needs the number of output tokens so far, and it is not known",
            expected="a capture with context and prompt_length",
            advice="give --history 1,2,3 and --prompt-length 1, or both in the capture",
        )
    return max(len(history.tokens) - history.prompt_length, 0) + drafted


def _history(step: RecipeStep, context: RowContext) -> tuple[tuple[int, ...], int | None]:
    given = step.argument("history")
    if isinstance(given, tuple):
        tokens = tuple(token for token in given if isinstance(token, int))
        prompt = step.count("prompt")
        if prompt > len(tokens):
            raise SettingsError(
                f"{step.name}: prompt={prompt} is longer than the history of {len(tokens)} tokens",
                expected=f"a prompt of at most {len(tokens)} tokens",
            )
        return tokens, prompt
    if context.history is None:
        raise SettingsError(
            f"{step.name} needs the tokens so far, and none are known",
            expected="a capture with context token ids",
            advice="give --history 1,2,3 (and --prompt-length 1 where only the output counts), or "
            f"write it into the step: {step.text}:history=1+2+3",
        )
    return context.history.tokens, context.history.prompt_length


def _drafted(step: RecipeStep, context: RowContext, size: int) -> tuple[int, ...]:
    if context.history is None or step.word("drafts") == "frozen":
        return ()
    drafted = context.history.drafted
    if drafted is None:
        raise SettingsError(
            f"{step.name} counts the draft tokens earlier in the block, and they are not known",
            expected="a capture with draft_tokens",
            advice=f"where the engine freezes the history, write {step.text}:drafts=frozen",
        )
    check_ids(step, drafted, size, "of the draft")
    return drafted
