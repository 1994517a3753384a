"""Logit bias: an amount added to the logits of some tokens."""

from __future__ import annotations

from specdist.model.recipe import RecipeStep
from specdist.model.value_texts import id_changes
from specdist.processing.context import RowContext
from specdist.processing.processor import Processor, check_ids
from specdist.processing.working_row import WorkingRow

PAGE = """\
logit-bias ID=B+... adds B to the logit of token ID.

formula     z(x) becomes z(x) + B(x); on probabilities p(x) becomes
            p(x) * exp(B(x)), renormalised. A masked token stays masked.
value       ID=B joined with '+', such as 5=3/2+7=-1; no id twice. An id outside
            the vocabulary is an error. To forbid a token write banned.
tie rule    none: nothing is cut.
empty row   cannot happen: nothing is dropped.

Exact on rational logits; on probabilities float64 weights with a bound.

example
  $ specdist what-if --target 1/2,1/4,1/4 --draft 1/4,1/4,1/2 --logit-bias 2=1
  2       0.475367   0.731059   0.475367           0   0.475367            0
  0       0.349755   0.134471   0.134471    0.215285   0.349755            0

engines
  before the penalties   vLLM 0.33.0 V1 and V2 (v1/sample/logits_processor/
                         builtin.py), llama.cpp 0c1e57098, mlx-lm 0.32.2,
                         exllamav3 1.6.5, TensorRT-LLM penaltyKernels.cu
  after the penalties    SGLang 0.5.23 (srt/layers/sampler.py)
  not applied            vLLM 0.33.0 V1 refuses it with speculation
"""


def _apply(row: WorkingRow, step: RecipeStep, context: RowContext) -> WorkingRow:
    check_ids(step, tuple(step.changes()), row.size, "of the list")
    return row.add(step.changes())


LOGIT_BIAS = Processor(
    name="logit-bias",
    metavar="ID=B",
    summary="add B to the logit of token ID: 5=3/2+7=-1",
    value=id_changes,
    apply=_apply,
    page=PAGE,
    aliases=("bias",),
)
