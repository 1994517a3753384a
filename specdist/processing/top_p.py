"""Top-p (nucleus): the most likely tokens that together carry mass P."""

from __future__ import annotations

from fractions import Fraction

from specdist.model.recipe import RecipeStep
from specdist.model.step_forms import Option
from specdist.model.value_texts import Interval, number_within, one_of
from specdist.processing.context import RowContext
from specdist.processing.processor import Processor
from specdist.processing.working_row import WorkingRow

PAGE = """\
top-p P keeps the shortest list of most likely tokens with mass P.

formula     tokens by falling probability, on the row renormalised after the
            earlier steps; the shortest prefix whose mass reaches P stays.
value       a number above 0 and at most 1. 1 changes nothing.
boundary=reach    (default) the mass must be >= P: x stays iff the mass before
                  it is < P.
boundary=exceed   the mass must be > P: x stays iff the mass before it is <= P.
ties=lowest-id    (default) equal probabilities are ordered by rising id.
ties=highest-id   equal probabilities are ordered by falling id.
ties=all          every token tied with the last one that stays, stays too.
empty row   cannot happen: the first token stays.

A cut whose mass lies within 8 * 2^-24 of P (relative), or hits P exactly, adds
the note near-cut: a float32 sampler may cut on the other side. Filters on the
full law ("joint" with top-k) are written with top-p before top-k.

engines
  reach    vLLM 0.33.0 (v1/sample/ops/topk_topp_sampler.py and
           topk_topp_triton.py), transformers 5.24.0 logits_process.py,
           llama.cpp 0c1e57098 src/llama-sampler.cpp, FlashInfer 0.7.4
           sampling.cuh, mlx-lm 0.32.2, exllamav3 1.6.5
  exceed   SGLang 0.5.23 pytorch backend (full law), TensorRT-LLM
           sampling_utils.py, lmdeploy 1263d5c, Ollama sample/transforms.go
  ties     highest-id as run on a CPU: vLLM PyTorch filters, transformers (the
           sort is not asked to be stable); lowest-id: vLLM Triton filters;
           all: FlashInfer, SGLang flashinfer, mlx-lm
  partial  TensorRT-LLM's C++ top-k kernel keeps part of the crossing token's
           mass; this step cannot express that
"""


def _apply(row: WorkingRow, step: RecipeStep, context: RowContext) -> WorkingRow:
    return row.keep_prefix(step.number(), step.word("boundary"), step.word("ties"))


TOP_P = Processor(
    name="top-p",
    metavar="P",
    summary="keep the shortest list of most likely tokens with mass >= P",
    value=number_within(Interval(low=Fraction(0), high=Fraction(1), open_low=True)),
    apply=_apply,
    page=PAGE,
    options=(
        Option("boundary", one_of("reach", "exceed"), "reach", "mass >= P or mass > P"),
        Option(
            "ties", one_of("lowest-id", "highest-id", "all"), "lowest-id", "order of equal tokens"
        ),
    ),
    neutral=Fraction(1),
    aliases=("nucleus",),
)
