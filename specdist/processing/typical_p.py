"""Locally typical sampling: tokens whose surprise is nearest to the entropy."""

from __future__ import annotations

from fractions import Fraction

from specdist.model.recipe import RecipeStep
from specdist.model.step_forms import Option
from specdist.model.value_texts import Interval, number_within, one_of
from specdist.processing.context import RowContext
from specdist.processing.processor import Processor
from specdist.processing.working_row import WorkingRow

PAGE = """\
typical-p P keeps the tokens whose surprise is nearest to the entropy, up to
mass P (Meister et al., arXiv 2202.00666).

formula     H = -sum p ln p and the shift d(x) = |-ln p(x) - H|, on the row
            renormalised after the earlier steps; tokens by rising shift until
            their mass reaches P.
value       a number above 0 and at most 1. 1 changes nothing.
boundary=reach    (default) the mass must be >= P.
boundary=exceed   the mass must be > P.
tie rule    tokens of equal shift stay or go together.
empty row   cannot happen: the first token stays.

Shifts are compared by enclosures of up to 320 digits, and equality is proven by
exact powers where these are small; what neither decides counts as a tie. A cut
within float32 rounding, in mass or in shift, adds the note near-cut.

example
  $ specdist what-if --target 1/2,3/8,1/8 --draft 1/4,1/4,1/2 \\
      --typical-p 1/2
  0            4/7       1/4        1/4        9/28      4/7            0
  note[near-cut]: draft: typical-p: probabilities 1/2 and 1/4 have equal shifts

engines
  reach    transformers 5.24.0 logits_process.py (ties at the cut kept)
  exceed   llama.cpp 0c1e57098 src/llama-sampler.cpp (ties cut by its sort)
"""


def _apply(row: WorkingRow, step: RecipeStep, context: RowContext) -> WorkingRow:
    return row.keep_typical(step.number(), step.word("boundary"))


TYPICAL_P = Processor(
    name="typical-p",
    metavar="P",
    summary="keep the tokens of most typical surprise with mass >= P",
    value=number_within(Interval(low=Fraction(0), high=Fraction(1), open_low=True)),
    apply=_apply,
    page=PAGE,
    options=(Option("boundary", one_of("reach", "exceed"), "reach", "mass >= P or mass > P"),),
    aliases=("typical", "typ-p"),
    neutral=Fraction(1),
)
