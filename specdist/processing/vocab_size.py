"""Vocabulary size: a row cut or padded to another number of tokens."""

from __future__ import annotations

from specdist.model.recipe import RecipeStep
from specdist.model.value_texts import count_from
from specdist.processing.context import RowContext
from specdist.processing.processor import Processor
from specdist.processing.working_row import WorkingRow

PAGE = """\
vocab-size N cuts or pads the row to N tokens.

formula     ids from N on are dropped, the rest is renormalised; ids that the
            row does not have get probability 0 (logit -inf).
value       a whole number, at least 1.
tie rule    none: nothing is compared.
empty row   an error when every possible token has an id of at least N.

Exact on every kind of row. Probability on the ids that are cut is named in the
note row-not-normalised. Target and draft heads of one family are often padded
to different sizes; the padding must carry no probability.

example
  $ specdist what-if --target 1/2,3/10,1/5 --draft 1/2,1/4,1/4 \\
      --draft-recipe vocab-size:2,vocab-size:3
  token  reference   drafted
  0            1/2       2/3
  1           3/10       1/3
  2            1/5         0
  note[row-not-normalised]: draft: vocab-size: mass 1/4 on ids from 2 on is

engines
  cut     vLLM 0.33.0 cuts logits to the configured vocabulary, which may still
          be longer than the tokenizer
  pad     proposed patches of vLLM for sizes that differ (issues 5203, 7252)
"""


def _apply(row: WorkingRow, step: RecipeStep, context: RowContext) -> WorkingRow:
    return row.resized(step.count())


VOCAB_SIZE = Processor(
    name="vocab-size",
    metavar="N",
    summary="cut or pad the row to N tokens; what is cut is named",
    value=count_from(1),
    apply=_apply,
    page=PAGE,
    any_stage=True,
)
