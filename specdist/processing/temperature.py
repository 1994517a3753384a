"""Temperature: logits divided by T."""

from __future__ import annotations

from fractions import Fraction

from specdist.model.recipe import RecipeStep
from specdist.model.step_forms import Option
from specdist.model.value_texts import Interval, number_within, one_of
from specdist.processing.context import RowContext
from specdist.processing.processor import Processor
from specdist.processing.working_row import WorkingRow

PAGE = """\
temperature T divides every logit by T.

formula     z(x) becomes z(x) / T: on probabilities, p(x) becomes p(x)^(1/T),
            renormalised.
value       a number, at least 0. 1 changes nothing.
T = 0       the point mass at the most likely token.
greedy-below=T0   T < T0 is read as 0 (default 0: only T = 0 is greedy).
at-least=T1       0 < T < T1 is raised to T1 (default 0).
plus=E            logits are divided by T + E, at T = 0 by E (default 0).
greedy=lowest-id  (default) of tied most likely tokens the lowest id; the tie
                  is named in a note, as no engine promises which one it takes.
greedy=all        the uniform law on all of them.
tie rule    nothing is cut above T = 0; at T = 0 see greedy.
empty row   cannot happen: temperature drops nothing above T = 0.

Probabilities with T = 1/n are exact powers, as long as every power stays
within 32,768 bits (and, for dumped rows, the vocabulary within 8,192
tokens or the power within float64). Every other temperature, and every row
of logits, gives weights exp((z - max z) / T) rounded to float64, recorded
with a bound. A finite logit whose weight underflows keeps the weight
2^-1074: it stays possible.

example
  $ specdist what-if --target 2/5,2/5,1/5 --draft 2/5,2/5,1/5 \\
      --temperature 1/1000000:greedy-below=1/100000:greedy=all
  token  reference
  0            1/2
  1            1/2
  2              0

engines
  before the filters   vLLM 0.33.0 v1/sample/sampler.py, SGLang 0.5.23
                       srt/layers/sampler.py, transformers 5.24.0
                       generation/utils.py, TensorRT-LLM sampling_utils.py
  after the filters    llama.cpp 0c1e57098 common/sampling.cpp, mlx-lm 0.32.2
                       sample_utils.py: write temperature last in --recipe
  before the penalties TensorRT-LLM penaltyKernels.cu
  small T              vLLM at-least=1/100 (sampling_params.py raises T before
                       the sampler reads T < 1e-5 as 0); SGLang
                       greedy-below=1/1000000, and greedy=all for a greedy row
                       in a mixed batch on FlashInfer; TensorRT-LLM
                       penaltyKernels.cu plus=1/1000000, sampling_utils.py
                       at-least=1/100000; Ollama at-least=1/10000000;
                       transformers refuses 0; llama.cpp reads T <= 0 as the
                       first maximum
"""

_SMALL = number_within(Interval(low=Fraction(0)))


def effective_temperature(step: RecipeStep) -> Fraction:
    """What the logits are divided by; 0 stands for the most likely token."""
    value = step.number()
    if value < step.number("greedy-below"):
        return Fraction(0)
    raised = max(value, step.number("at-least")) if value else value
    return raised + step.number("plus")


def _apply(row: WorkingRow, step: RecipeStep, context: RowContext) -> WorkingRow:
    temperature = effective_temperature(step)
    return row.divide(temperature) if temperature else row.argmax(step.word("greedy"))


TEMPERATURE = Processor(
    name="temperature",
    metavar="T",
    summary="divide logits by T; 0 takes the most likely token (lowest id of a tie)",
    value=_SMALL,
    apply=_apply,
    page=PAGE,
    options=(
        Option("greedy-below", _SMALL, Fraction(0), "T below this is read as 0"),
        Option("at-least", _SMALL, Fraction(0), "T above 0 and below this is raised to it"),
        Option("plus", _SMALL, Fraction(0), "what is added to T"),
        Option("greedy", one_of("lowest-id", "all"), "lowest-id", "which tie a T of 0 takes"),
    ),
    aliases=("T", "temp"),
    neutral=Fraction(1),
    neutral_when=lambda step: effective_temperature(step) == 1,
)
