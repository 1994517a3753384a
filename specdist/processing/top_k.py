"""Top-k: the k most likely tokens."""

from __future__ import annotations

from specdist.model.recipe import RecipeStep
from specdist.model.step_forms import Option
from specdist.model.value_texts import count_from, one_of
from specdist.processing.context import RowContext
from specdist.processing.processor import Processor
from specdist.processing.working_row import WorkingRow

PAGE = """\
top-k K keeps the K most likely tokens.

formula     x stays iff fewer than K tokens are strictly more likely than x.
value       a whole number, at least 1. K >= vocabulary size keeps all. 0 and
            -1, which some engines read as "off", are refused: leave it out.
ties=all          (default) every token tied with the K-th stays, so more than
                  K may stay.
ties=lowest-id    exactly K tokens: of those tied with the K-th the lowest ids.
ties=any          exactly K tokens, and the engine does not say which of a tie:
                  the lowest ids are taken, and a tie at the cut is noted.
empty row   cannot happen: the most likely token stays.

example
  $ specdist what-if --target 1/2,1/4,1/4 --draft 1/2,1/4,1/4 \\
      --top-k 2:ties=any
  token  reference
  0            2/3
  1            1/3
  2              0
  note[near-cut]: target: top-k: tokens 1, 2 tie at the cut

engines
  ties=all         transformers 5.24.0 logits_process.py, vLLM 0.33.0 PyTorch
                   and FlashInfer filters (v1/sample/ops/topk_topp_sampler.py),
                   SGLang 0.5.23 flashinfer backend and speculative verify,
                   TensorRT-LLM sampling_utils.py
  ties=lowest-id   vLLM 0.33.0 Triton filters (v1/sample/ops/
                   topk_topp_triton.py), SGLang 0.5.23 pytorch backend
  ties=any         llama.cpp 0c1e57098 src/llama-sampler.cpp, mlx-lm 0.32.2,
                   exllamav3 1.6.5, Ollama sample/transforms.go, TensorRT-LLM
                   samplingTopKKernels.cu
  unset            transformers reads an unset top_k as 50 when sampling
"""


def _apply(row: WorkingRow, step: RecipeStep, context: RowContext) -> WorkingRow:
    return row.keep_top(step.count(), step.word("ties"))


TOP_K = Processor(
    name="top-k",
    metavar="K",
    summary="keep the K most likely tokens; all tokens tied with the K-th stay",
    value=count_from(1, "to keep every token, leave top-k out"),
    apply=_apply,
    page=PAGE,
    options=(
        Option(
            "ties", one_of("all", "lowest-id", "any"), "all", "which tokens tied with the K-th stay"
        ),
    ),
)
