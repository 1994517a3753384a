"""Cast: logits or probabilities rounded to a float format."""

from __future__ import annotations

from specdist.model.recipe import RecipeStep
from specdist.model.row import NumberFormat
from specdist.model.step_forms import Option
from specdist.model.value_texts import one_of
from specdist.processing.context import RowContext
from specdist.processing.number_rounding import DTYPES
from specdist.processing.processor import Processor
from specdist.processing.working_row import WorkingRow

PAGE = """\
cast DTYPE rounds the row to a float format, once, to nearest, ties to even.

formula     of=probabilities: p(x) becomes fl(p(x)); of=logits: z(x), which is
            z(x) / T behind a temperature, becomes fl(z(x)).
value       float16, bfloat16 or float32.
of=probabilities  (default) the rounded numbers sum to s, seldom to 1: draws
                  follow fl(p) / s, while test and residual see fl(p) itself.
of=logits         the softmax of the rounded logits; on rows of logits or
                  log-probabilities only.
tie rule    a number half way between two goes to the one with an even last
            digit; rounding twice is never done.
empty row   an error when every probability rounds to 0.

Roundings are decided exactly, those of a softmax as far as its bound allows:
one that lies within the bound adds undecided-precision. A probability that
rounds to 0 and a logit that rounds to minus infinity are dropped; a logit that
rounds to plus infinity is an error. Softmax and division in the same format are
not modelled: this is the best that the format can do.

example
  $ specdist what-if --target-logits 3,191/64 --draft-logits 3,191/64 \\
      --temperature 7/10 \\
      --role drafted_from=temperature:7/10,cast:bfloat16:of=logits
   |  token  reference    drafted     tested     output
   |  0       0.505580   0.507812   0.505580   0.507812
   |  1       0.494420   0.492188   0.494420   0.492188

engines
  logits in bfloat16   vLLM 0.33.0 V2 when no request of the batch needs
                       processing; draft heads that divide by T in their dtype
  probabilities        vLLM 0.33.0 V1 keeps draft probabilities in float32
"""


def _apply(row: WorkingRow, step: RecipeStep, context: RowContext) -> WorkingRow:
    numbers = NumberFormat(step.word("value"))
    if step.word("of") == "logits":
        return row.rounded_logits(numbers)
    return row.rounded_probabilities(numbers)


CAST = Processor(
    name="cast",
    metavar="DTYPE",
    summary="round probabilities, or with of=logits logits, to a float format",
    value=one_of(*(numbers.value for numbers in DTYPES)),
    apply=_apply,
    page=PAGE,
    options=(
        Option(
            "of", one_of("probabilities", "logits"), "probabilities", "which numbers are rounded"
        ),
    ),
    any_stage=True,
)
