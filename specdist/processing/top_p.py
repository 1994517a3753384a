"""Top-p (nucleus): the most likely tokens that together carry mass P."""

from __future__ import annotations

from fractions import Fraction

from specdist.errors import SettingsError
from specdist.model.recipe import RecipeStep
from specdist.model.step_forms import Option
from specdist.model.value_texts import Interval, number_within, one_of
from specdist.processing.context import RowContext
from specdist.processing.number_rounding import float32_threshold
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
boundary=partial  as reach, and the token that crosses P keeps only the part of
                  its mass below P; with ties=all its ties share that part.
threshold=exact   (default) P is the number as written.
threshold=float32 P is 1 - fl(1 - P), fl the nearest float32: samplers that cut
                  the tail compare it with 1 - P.
ties=lowest-id    (default) equal probabilities are ordered by rising id.
ties=highest-id   equal probabilities are ordered by falling id.
ties=all          every token tied with the last one that stays, stays too.
empty row   cannot happen: the first token stays.

A cut whose mass lies within 8 * 2^-24 of P (relative), or hits P exactly, adds
the note near-cut: a float32 sampler may cut on the other side. Filters on the
full law ("joint" with top-k) are written with top-p before top-k. The float32
nearest to P itself is written out: top-p:0.89999997615814208984375 for 0.9.

example
  $ specdist what-if --target 1/2,3/10,1/5 --draft 1/2,3/10,1/5 \\
      --top-p 3/5:boundary=partial
  token  reference
  0            5/6
  1            1/6
  2              0

engines
  reach    vLLM 0.33.0 (v1/sample/ops/topk_topp_sampler.py and
           topk_topp_triton.py), transformers 5.24.0 logits_process.py,
           llama.cpp 0c1e57098 src/llama-sampler.cpp, FlashInfer 0.7.4
           sampling.cuh, mlx-lm 0.32.2, exllamav3 1.6.5
  exceed   SGLang 0.5.23 pytorch backend (full law), TensorRT-LLM
           sampling_utils.py, lmdeploy 1263d5c, Ollama sample/transforms.go
  partial  TensorRT-LLM samplingTopKKernels.cu; with ties=all the fused kernel
           of exllamav3
  ties     highest-id as run on a CPU: vLLM PyTorch filters, transformers (the
           sort is not asked to be stable); lowest-id: vLLM Triton filters;
           all: FlashInfer, SGLang flashinfer, mlx-lm
  float32  transformers; vLLM PyTorch filters, which also round P first
"""


def _apply(row: WorkingRow, step: RecipeStep, context: RowContext) -> WorkingRow:
    mass = step.number()
    if step.word("threshold") == "float32":
        mass = float32_threshold(mass)
        if not mass:
            raise SettingsError(
                f"top-p: 1 - {step.number()} rounds to 1 in float32, so no mass is left to keep",
                expected="a threshold of at least 2^-24 with threshold=float32",
            )
    return row.keep_prefix(mass, step.word("boundary"), step.word("ties"))


TOP_P = Processor(
    name="top-p",
    metavar="P",
    summary="keep the shortest list of most likely tokens with mass >= P",
    value=number_within(Interval(low=Fraction(0), high=Fraction(1), open_low=True)),
    apply=_apply,
    page=PAGE,
    options=(
        Option(
            "boundary",
            one_of("reach", "exceed", "partial"),
            "reach",
            "mass >= P, mass > P, or exactly P by cutting the last token",
        ),
        Option("threshold", one_of("exact", "float32"), "exact", "P, or 1 - fl32(1 - P)"),
        Option(
            "ties", one_of("lowest-id", "highest-id", "all"), "lowest-id", "order of equal tokens"
        ),
    ),
    neutral=Fraction(1),
    aliases=("nucleus",),
)
