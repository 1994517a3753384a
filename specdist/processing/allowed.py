"""Allowed ids: everything else is masked."""

from __future__ import annotations

from specdist.model.recipe import RecipeStep
from specdist.model.value_texts import id_set
from specdist.processing.context import RowContext
from specdist.processing.processor import Processor, check_ids
from specdist.processing.working_row import WorkingRow

PAGE = """\
allowed IDS keeps only the listed tokens.

formula     p(x) becomes 0 for every x that is not listed.
value       token ids joined with '+', such as 1+2+3. An id outside the
            vocabulary is an error.
tie rule    none: the ids are named.
empty row   an error when none of the listed tokens is possible.

Exact on every kind of row. A grammar that is applied before the filters can be
written as the allowed ids of its state; a lazy grammar (llama.cpp 0c1e57098,
Ollama), which redraws only after a refused token, is the step lazy-allowed.

example
  $ specdist what-if --target 1/2,1/4,1/4 --draft 1/4,1/4,1/2 --allowed 0+1
  0            2/3       1/2        1/2         1/6      2/3            0
  2              0         0          0           0        0            0

engines
  vLLM 0.33.0 allowed_token_ids (v1/sample/sampler.py), first of all steps;
  transformers 5.24.0 prefix_allowed_tokens_fn (generation/utils.py)
"""


def _apply(row: WorkingRow, step: RecipeStep, context: RowContext) -> WorkingRow:
    check_ids(step, step.ids(), row.size, "of the list")
    return row.keep(step.ids())


ALLOWED = Processor(
    name="allowed",
    metavar="IDS",
    summary="keep only the listed token ids: 1+2+3",
    value=id_set,
    apply=_apply,
    page=PAGE,
    aliases=("allowed-ids", "allowed-token-ids"),
)
