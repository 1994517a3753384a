"""Presence penalty: a fixed amount off the logits of tokens seen before."""

from __future__ import annotations

from fractions import Fraction

from specdist.model.recipe import RecipeStep
from specdist.model.value_texts import Interval, number_within
from specdist.processing.context import RowContext
from specdist.processing.processor import Processor
from specdist.processing.token_scope import (
    ADDITIVE_ENGINES,
    SCOPE_OPTIONS,
    SCOPE_PAGE,
    counted_tokens,
)
from specdist.processing.working_row import WorkingRow

PAGE = f"""\
presence-penalty A lowers the logits of tokens that came before by A.

formula     z(x) becomes z(x) - A for every distinct id in the scope.
value       a number; a negative one raises. 0 changes nothing.
{SCOPE_PAGE}tie rule    none: nothing is cut.
empty row   cannot happen: nothing is dropped.

Exact on rational logits; on probabilities float64 weights with a bound. vLLM
limits A to -2 .. 2; here it may have up to 100 digits.

example
  $ specdist what-if --target-logits 2,1,-1 --draft-logits 0,1,2 \\
      --presence-penalty 1 --history 0,0
  0       0.468311   0.0351190   0.0351190    0.433192    0.468311            0
  1       0.468311    0.259496    0.259496    0.208814    0.468311            0

{ADDITIVE_ENGINES}"""


def _apply(row: WorkingRow, step: RecipeStep, context: RowContext) -> WorkingRow:
    seen = set(counted_tokens(step, context, row.size))
    return row.add(dict.fromkeys(sorted(seen), -step.number()))


PRESENCE_PENALTY = Processor(
    name="presence-penalty",
    metavar="A",
    summary="lower the logits of tokens seen before by A",
    value=number_within(Interval()),
    apply=_apply,
    page=PAGE,
    options=SCOPE_OPTIONS,
    aliases=("presence",),
    neutral=Fraction(0),
)
