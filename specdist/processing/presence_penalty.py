"""Presence penalty: a fixed amount off the logits of tokens seen before."""

from __future__ import annotations

from fractions import Fraction

from specdist.model.recipe import RecipeStep
from specdist.processing.context import RowContext
from specdist.processing.processor import Processor, number
from specdist.processing.token_scope import SCOPE_OPTIONS, SCOPE_PAGE, counted_tokens
from specdist.processing.value_texts import Interval, number_within
from specdist.processing.working_row import WorkingRow

PAGE = f"""\
presence-penalty A lowers the logits of tokens that came before by A.

formula     z(x) becomes z(x) - A for every distinct id in the scope.
value       a number; a negative one raises. 0 changes nothing.
{SCOPE_PAGE}tie rule    none: nothing is cut.
empty row   cannot happen: nothing is dropped.

Exact on rational logits; on probabilities float64 weights with a bound. vLLM
limits A to -2 .. 2; here it may have up to 100 digits.

engines
  output        vLLM 0.33.0 v1/sample/ops/penalties.py, SGLang 0.5.23
                srt/sampling/penaltylib
  last-64       llama.cpp 0c1e57098 src/llama-sampler.cpp
  last-20       mlx-lm 0.32.2 sample_utils.py
  all           exllamav3 1.6.5; TensorRT-LLM penaltyKernels.cu, after T
  none          transformers 5.24.0 and Ollama have no such penalty
"""


def _apply(row: WorkingRow, step: RecipeStep, context: RowContext) -> WorkingRow:
    seen = set(counted_tokens(step, context, row.size))
    return row.add(dict.fromkeys(sorted(seen), -number(step)))


PRESENCE_PENALTY = Processor(
    name="presence-penalty",
    metavar="A",
    summary="lower the logits of tokens seen before by A",
    value=number_within(Interval()),
    apply=_apply,
    page=PAGE,
    options=SCOPE_OPTIONS,
    aliases=("presence",),
    neutral=Fraction(0),
)
