"""Epsilon cutoff: tokens of at least some probability."""

from __future__ import annotations

from fractions import Fraction

from specdist.model.recipe import RecipeStep
from specdist.model.value_texts import Interval, number_within
from specdist.processing.context import RowContext
from specdist.processing.processor import Processor
from specdist.processing.working_row import WorkingRow

PAGE = """\
epsilon E keeps the tokens with probability at least E.

formula     x stays iff p(x) >= E, on the row renormalised after the earlier
            steps.
value       a number, at least 0 and below 1. 0 changes nothing.
tie rule    equal tokens stay or go together; p(x) = E stays, with the note
            near-cut.
empty row   cannot happen: the most likely token and all its ties stay, whatever
            their probability.

example
  $ specdist what-if --target 1/2,3/8,1/8 --draft 1/4,1/4,1/2 --epsilon 1/5
  0            4/7       1/4        1/4        9/28      4/7            0
  2              0       1/2          0           0        0            0

engines
  transformers 5.24.0 epsilon_cutoff (logits_process.py): the most likely
  min_tokens_to_keep tokens stay, 1 unless it is set
"""


def _apply(row: WorkingRow, step: RecipeStep, context: RowContext) -> WorkingRow:
    return row.keep_at_least(step.number())


EPSILON = Processor(
    name="epsilon",
    metavar="E",
    summary="keep tokens with probability >= E, and always the most likely",
    value=number_within(Interval(low=Fraction(0), high=Fraction(1), open_high=True)),
    apply=_apply,
    page=PAGE,
    aliases=("epsilon-cutoff",),
    neutral=Fraction(0),
)
