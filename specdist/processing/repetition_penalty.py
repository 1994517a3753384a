"""Repetition penalty: logits of tokens seen before, scaled towards less likely."""

from __future__ import annotations

from fractions import Fraction

from specdist.model.recipe import RecipeStep
from specdist.model.value_texts import Interval, number_within
from specdist.processing.context import RowContext
from specdist.processing.processor import Processor
from specdist.processing.token_scope import SCOPE_OPTIONS, SCOPE_PAGE, counted_tokens
from specdist.processing.working_row import WorkingRow

PAGE = f"""\
repetition-penalty R scales the logits of tokens that came before.

formula     for every distinct id in the scope, once: z(x) becomes z(x) / R
            where z(x) > 0 and z(x) * R elsewhere (0 stays 0, -inf stays).
            On probabilities z(x) = ln p(x), so every seen token is multiplied.
value       a number above 0. 1 changes nothing.
{SCOPE_PAGE}tie rule    none: nothing is cut.
empty row   cannot happen: nothing is dropped.

Exact on rational logits; on probabilities float64 weights with a bound. The
order against the additive penalties matters.

example
  $ specdist what-if --target-logits 2,1,-1 --draft-logits 0,1,2 \\
      --repetition-penalty 2 --history 0,2
  0       0.487856   0.155362    0.155362    0.332493    0.487856            0
  1       0.487856   0.422319    0.422319   0.0655368    0.487856            0

engines
  all           vLLM 0.33.0 v1/sample/ops/penalties.py, transformers 5.24.0
                logits_process.py, exllamav3 1.6.5
  output        SGLang 0.5.23 srt/sampling/penaltylib; its speculative verify
                freezes the drafts
  last-64       llama.cpp 0c1e57098 src/llama-sampler.cpp (penalty_last_n)
  last-20       mlx-lm 0.32.2 sample_utils.py; its speculative generation leaves
                the prompt out
  after T       TensorRT-LLM penaltyKernels.cu: write it behind temperature
"""


def _apply(row: WorkingRow, step: RecipeStep, context: RowContext) -> WorkingRow:
    return row.penalise(set(counted_tokens(step, context, row.size)), step.number())


REPETITION_PENALTY = Processor(
    name="repetition-penalty",
    metavar="R",
    summary="logits of tokens seen before: z / R where positive, z * R elsewhere",
    value=number_within(Interval(low=Fraction(0), open_low=True)),
    apply=_apply,
    page=PAGE,
    options=SCOPE_OPTIONS,
    aliases=("repetition", "repeat-penalty"),
    neutral=Fraction(1),
)
