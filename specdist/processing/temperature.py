"""Temperature: logits divided by T."""

from __future__ import annotations

from fractions import Fraction

from specdist.model.recipe import RecipeStep
from specdist.model.value_texts import Interval, number_within
from specdist.processing.context import RowContext
from specdist.processing.processor import Processor
from specdist.processing.working_row import WorkingRow

PAGE = """\
temperature T divides every logit by T.

formula     z(x) becomes z(x) / T: on probabilities, p(x) becomes p(x)^(1/T),
            renormalised.
value       a number, at least 0. 1 changes nothing.
T = 0       the point mass at the most likely token.
tie rule    at T = 0 the lowest id among the most likely tokens; the tie is
            named in a note, because no engine promises which one it takes.
empty row   cannot happen: temperature drops nothing above T = 0.

Probabilities with T = 1/n are exact powers, as long as every power stays
within 32,768 bits (and, for dumped rows, the vocabulary within 8,192
tokens or the power within float64). Every other temperature, and every row
of logits, gives weights exp((z - max z) / T) rounded to float64, recorded
with a bound. A finite logit whose weight underflows keeps the weight
2^-1074: it stays possible.

engines
  before the filters   vLLM 0.33.0 v1/sample/sampler.py, SGLang 0.5.23
                       srt/layers/sampler.py, transformers 5.24.0
                       generation/utils.py, TensorRT-LLM sampling_utils.py
  after the filters    llama.cpp 0c1e57098 common/sampling.cpp, mlx-lm 0.32.2
                       sample_utils.py: write temperature last in --recipe
  before the penalties TensorRT-LLM penaltyKernels.cu, which divides by T + 1e-6
  small T              vLLM reads T < 1e-5 as 0 and raises 0 < T < 0.01 to 0.01;
                       SGLang reads T < 1e-6 as top-k 1; transformers refuses 0;
                       llama.cpp reads T <= 0 as the first maximum
"""


def _apply(row: WorkingRow, step: RecipeStep, context: RowContext) -> WorkingRow:
    temperature = step.number()
    return row.divide(temperature) if temperature else row.argmax()


TEMPERATURE = Processor(
    name="temperature",
    metavar="T",
    summary="divide logits by T; 0 takes the most likely token (lowest id of a tie)",
    value=number_within(Interval(low=Fraction(0))),
    apply=_apply,
    page=PAGE,
    aliases=("T", "temp"),
    neutral=Fraction(1),
)
