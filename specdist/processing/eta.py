"""Eta cutoff: a probability threshold that falls with the entropy."""

from __future__ import annotations

from fractions import Fraction

from specdist.model.recipe import RecipeStep
from specdist.model.value_texts import Interval, number_within
from specdist.processing.context import RowContext
from specdist.processing.processor import Processor
from specdist.processing.working_row import WorkingRow

PAGE = """\
eta E keeps the tokens above a threshold that falls with the entropy (Hewitt et
al., arXiv 2210.15191).

formula     H = -sum p ln p on the row renormalised after the earlier steps;
            x stays iff p(x) >= min(E, sqrt(E) * exp(-H)).
value       a number, at least 0 and below 1. 0 changes nothing.
tie rule    equal tokens stay or go together; p(x) exactly at the threshold
            stays, with the note near-cut.
empty row   cannot happen: the most likely token and all its ties stay.

The comparison with exp(-H) is decided by enclosures of up to 320 digits, and
equality is proven by exact powers where these are small.

example
  $ specdist what-if --target 1/2,3/8,1/8 --draft 1/4,1/4,1/2 --eta 1/5
  0            4/7       1/4        1/4        9/28      4/7            0
  2              0       1/2          0           0        0            0

engines
  transformers 5.24.0 eta_cutoff (logits_process.py): the most likely
  min_tokens_to_keep tokens stay, 1 unless it is set
"""


def _apply(row: WorkingRow, step: RecipeStep, context: RowContext) -> WorkingRow:
    return row.keep_eta(step.number())


ETA = Processor(
    name="eta",
    metavar="E",
    summary="keep tokens with p >= min(E, sqrt(E) exp(-H)), always the most likely",
    value=number_within(Interval(low=Fraction(0), high=Fraction(1), open_high=True)),
    apply=_apply,
    page=PAGE,
    aliases=("eta-cutoff",),
    neutral=Fraction(0),
)
