"""Top-n-sigma: logits within n deviations of the largest."""

from __future__ import annotations

from fractions import Fraction

from specdist.model.recipe import RecipeStep
from specdist.model.value_texts import Interval, number_within
from specdist.processing.context import RowContext
from specdist.processing.processor import Processor
from specdist.processing.working_row import WorkingRow

PAGE = """\
top-n-sigma N keeps the logits within N deviations of the largest.

formula     x stays iff z(x) >= max z - N * s, s the population deviation of the
            logits of the tokens that are still possible.
value       a number above 0. 0, which llama.cpp reads as "off", is refused:
            leave it out.
tie rule    equal logits stay or go together; a logit exactly at the threshold
            stays, with the note near-cut.
empty row   cannot happen: the largest logit stays.

The cut does not depend on the temperature. It is exact on rational logits; on
probabilities, whose logits are logarithms, it is decided by enclosures of up to
320 digits.

example
  $ specdist what-if --target-logits 2,1,-1 --draft-logits 0,1,2 \\
      --top-n-sigma 1
  0       0.731059         0          0    0.731059   0.731059            0
  2              0         1          0           0          0            0

engines
  llama.cpp 0c1e57098 src/llama-sampler.cpp, before top-k and before T
"""


def _apply(row: WorkingRow, step: RecipeStep, context: RowContext) -> WorkingRow:
    return row.keep_within_deviations(step.number())


TOP_N_SIGMA = Processor(
    name="top-n-sigma",
    metavar="N",
    summary="keep logits within N standard deviations of the largest",
    value=number_within(Interval(low=Fraction(0), open_low=True)),
    apply=_apply,
    page=PAGE,
)
