"""Frequency penalty: an amount off the logits for every earlier occurrence."""

from __future__ import annotations

from collections import Counter
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
frequency-penalty F lowers a token's logit by F for every time it came before.

formula     z(x) becomes z(x) - F * n(x), n(x) the occurrences in the scope.
value       a number; a negative one raises. 0 changes nothing.
{SCOPE_PAGE}tie rule    none: nothing is cut.
empty row   cannot happen: nothing is dropped.

Exact on rational logits; on probabilities float64 weights with a bound. vLLM
limits F to -2 .. 2; here it may have up to 100 digits.

example
  $ specdist what-if --target-logits 2,1,-1 --draft-logits 0,1,2 \\
      --frequency-penalty 1 --history 0,0
  1       0.665241    0.265388    0.265388    0.399853    0.665241            0
  0       0.244728   0.0132129   0.0132129    0.231516    0.244728            0

{ADDITIVE_ENGINES}"""


def _apply(row: WorkingRow, step: RecipeStep, context: RowContext) -> WorkingRow:
    occurrences = Counter(counted_tokens(step, context, row.size))
    return row.add({token: -step.number() * times for token, times in sorted(occurrences.items())})


FREQUENCY_PENALTY = Processor(
    name="frequency-penalty",
    metavar="F",
    summary="lower a token's logit by F for every time it was seen before",
    value=number_within(Interval()),
    apply=_apply,
    page=PAGE,
    options=SCOPE_OPTIONS,
    aliases=("frequency",),
    neutral=Fraction(0),
)
