"""Lazy grammar: a token that the grammar refuses is drawn again with the mask in front."""

from __future__ import annotations

from specdist.model.recipe import RecipeStep
from specdist.model.value_texts import id_set
from specdist.processing.context import RowContext
from specdist.processing.processor import Processor, check_ids
from specdist.processing.working_row import WorkingRow

PAGE = """\
lazy-allowed IDS is a grammar that is asked after the draw.

formula     p0 the law of the chain in front of this step, p1 that of the same
            chain with everything but IDS masked first:
            p(x) = p0(x) [x in IDS] + (1 - p0(IDS)) p1(x).
value       token ids joined with '+', such as 2+4+5: what the grammar allows
            at this position.
tie rule    none: the ids are named.
empty row   an error when none of the listed tokens is possible.

It must be the last step, and the chain must keep the vocabulary. With top-k or
top-p in the chain the law is neither p1 (allowed in front) nor p0 conditioned
on IDS (allowed at the end): tokens that p1 reaches and p0 does not are drawn
too seldom. Exact on fractions; on dumps with a bound.

example
  $ specdist what-if --target 1/2,3/10,1/5 --draft 1/2,3/10,1/5 \\
      --recipe top-k:2,lazy-allowed:1+2
  token  reference
  1            3/4
  2            1/4
  0              0

engines
  llama.cpp 0c1e57098 common/sampling.cpp (grammar_first = false); Ollama sample
  package; vLLM 0.33.0 and SGLang 0.5.23 mask first: allowed
"""


def _mask(row: WorkingRow, step: RecipeStep, context: RowContext) -> WorkingRow:
    """What the grammar does before the chain runs again."""
    check_ids(step, step.ids(), row.size, "of the list")
    return row.keep(step.ids())


LAZY_ALLOWED = Processor(
    name="lazy-allowed",
    metavar="IDS",
    summary="redraw with only the listed ids when another token was drawn: 1+2",
    value=id_set,
    apply=_mask,
    page=PAGE,
    aliases=("lazy-grammar",),
)
