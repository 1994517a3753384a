"""Min-p: tokens at least a fraction as likely as the most likely one."""

from __future__ import annotations

from fractions import Fraction

from specdist.model.recipe import RecipeStep
from specdist.model.step_forms import Option
from specdist.model.value_texts import Interval, number_within, one_of
from specdist.processing.context import RowContext
from specdist.processing.processor import Processor
from specdist.processing.working_row import WorkingRow

PAGE = """\
min-p M keeps the tokens at least M times as likely as the most likely one.

formula     x stays iff p(x) >= M * max p; on logits, iff
            z(x) >= max z + ln M.
value       a number from 0 to 1. 0 changes nothing; 1 keeps the ties of the
            most likely token.
equal=keep  (default) a token exactly at the threshold stays.
equal=drop  it is dropped: x stays iff p(x) > M * max p.
tie rule    equal tokens stay or go together.
empty row   only min-p:1:equal=drop drops every token: an error.

A token whose probability lies within 8 * 2^-24 of the threshold (relative), or
on it, adds the note near-cut.

example
  $ specdist what-if --target 1/2,3/8,1/8 --draft 1/4,1/4,1/2 \\
      --min-p 1/4:equal=drop
  0            4/7       1/4        1/4        9/28      4/7            0
  2              0       1/2          0           0        0            0

engines
  before top-k   vLLM 0.33.0 (v1/sample/logits_processor/builtin.py), exllamav3
                 1.6.5
  after top-p    transformers 5.24.0 generation/utils.py, SGLang 0.5.23, Ollama,
                 lmdeploy; at T = 1 llama.cpp 0c1e57098 and mlx-lm 0.32.2
  not applied    SGLang 0.5.23 speculative verify; vLLM 0.33.0 V1 refuses it
                 with speculation
  equal=drop     llama.cpp 0c1e57098, backend-graph version of the sampler only
"""


def _apply(row: WorkingRow, step: RecipeStep, context: RowContext) -> WorkingRow:
    return row.keep_relative(step.number(), strict=step.word("equal") == "drop")


MIN_P = Processor(
    name="min-p",
    metavar="M",
    summary="keep tokens with probability >= M times the largest",
    value=number_within(Interval(low=Fraction(0), high=Fraction(1))),
    apply=_apply,
    page=PAGE,
    options=(Option("equal", one_of("keep", "drop"), "keep", "a token exactly at the threshold"),),
    neutral=Fraction(0),
)
