"""Banned ids: these tokens are masked."""

from __future__ import annotations

from specdist.model.recipe import RecipeStep
from specdist.model.value_texts import id_set
from specdist.processing.context import RowContext
from specdist.processing.processor import Processor, check_ids
from specdist.processing.working_row import WorkingRow

PAGE = """\
banned IDS drops the listed tokens.

formula     p(x) becomes 0 for every listed x.
value       token ids joined with '+', such as 4+5. An id outside the
            vocabulary is an error.
tie rule    none: the ids are named.
empty row   an error when no other token is possible.

Exact on every kind of row. Phrases (bad words of several tokens) depend on the
output so far: ban the id that would complete the phrase at this position.

example
  $ specdist what-if --target 1/2,1/4,1/4 --draft 1/4,1/4,1/2 --banned 2
  0            2/3       1/2        1/2         1/6      2/3            0
  2              0         0          0           0        0            0

engines
  vLLM 0.33.0 bad_words (v1/sample/ops/bad_words.py); transformers 5.24.0
  suppress_tokens and bad_words_ids (logits_process.py); llama.cpp 0c1e57098
  logit_bias of -inf (src/llama-sampler.cpp)
"""


def _apply(row: WorkingRow, step: RecipeStep, context: RowContext) -> WorkingRow:
    check_ids(step, step.ids(), row.size, "of the list")
    return row.drop(step.ids())


BANNED = Processor(
    name="banned",
    metavar="IDS",
    summary="drop the listed token ids: 4+5",
    value=id_set,
    apply=_apply,
    page=PAGE,
    aliases=("banned-ids", "banned-token-ids", "suppress-tokens"),
)
