"""Min-tokens: end-of-sequence ids are masked until the output is long enough."""

from __future__ import annotations

from specdist.model.recipe import RecipeStep
from specdist.model.step_forms import Option
from specdist.model.value_texts import count_from, id_set
from specdist.processing.context import RowContext
from specdist.processing.processor import Processor, check_ids
from specdist.processing.token_scope import DRAFTS_OPTION, output_length
from specdist.processing.working_row import WorkingRow

PAGE = """\
min-tokens N masks the end-of-sequence ids until N tokens are output.

formula     while fewer than N output tokens come before this position, every
            id of eos has probability 0.
value       a whole number, at least 0. 0 changes nothing.
eos=0+2           the ids to mask; needed.
drafts=counted    (default) draft tokens earlier in the block count as output.
drafts=frozen     they do not.
tie rule    none: the ids are named.
empty row   an error when no other token is left.

The number of output tokens comes from the capture's context and prompt_length;
without them the step is an error. Masks are exact on every kind of row.

example
  $ specdist what-if --target 1/2,1/4,1/4 --draft 1/4,1/4,1/2 \\
      --min-tokens 3:eos=2 --history 1,0,1 --prompt-length 2
  0            2/3       1/2        1/2         1/6      2/3            0
  2              0         0          0           0        0            0

engines
  vLLM 0.33.0 v1/sample/logits_processor/builtin.py masks all stop ids, and
  undoes the mask for a row that a structured output leaves with nothing else;
  SGLang 0.5.23 min_new_tokens; transformers 5.24.0 min_new_tokens;
  TensorRT-LLM penaltyKernels.cu min_length, the end id only
"""


def _apply(row: WorkingRow, step: RecipeStep, context: RowContext) -> WorkingRow:
    check_ids(step, step.ids("eos"), row.size, "of eos")
    if output_length(step, context, row.size) >= step.count():
        return row
    return row.drop(step.ids("eos"))


MIN_TOKENS = Processor(
    name="min-tokens",
    metavar="N",
    summary="mask the ids of eos=... until N tokens are output",
    value=count_from(0),
    apply=_apply,
    page=PAGE,
    options=(
        Option("eos", id_set, (), "the end-of-sequence ids: 0+2"),
        DRAFTS_OPTION,
    ),
    aliases=("min-new-tokens",),
    neutral=0,
    required=("eos",),
)
