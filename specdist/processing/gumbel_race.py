"""Gumbel race: the law of Gumbel-max draws whose uniforms lie on a grid."""

from __future__ import annotations

from specdist.model.recipe import RecipeStep
from specdist.processing.context import RowContext
from specdist.processing.grid_points import read_points
from specdist.processing.processor import Processor
from specdist.processing.working_row import WorkingRow

PAGE = """\
gumbel-race N draws by Gumbel-max with uniforms on N points.

formula     the first x with the largest u(x)^(1/p(x)), the u(x) independent
            and uniform on k/N, k = 1 .. N. The same as the smallest
            -ln u(x) / p(x), or the largest ln p(x) - ln(-ln u(x)).
value       a whole number, at least 1, also written 2^10; at most 512 possible
            tokens, and 16,384 tokens times points.
tie rule    tied values go to the lowest id: all tie where every u is 1.
empty row   cannot happen: one token wins.

Exact: all N^V outcomes are counted, in the order of their values, and ties are
proven (Gelfond-Schneider). On a coarse grid ties favour low ids; two equal
tokens and N = 4 give 5/8 and 3/8.

example
  $ specdist what-if --target 1/2,1/4,1/4 --draft 1/2,1/4,1/4 \\
      --role drafted_from=gumbel-race:4
   |  token  reference   drafted    tested    output
   |  2            1/4     13/64       1/4     13/64
   |  1            1/4      9/32       1/4      9/32
   |  0            1/2     33/64       1/2     33/64

engines
  vLLM 0.33.0 V2 (v1/worker/gpu/sample, 32-bit uniforms) and exponential race
  in V1; SGLang 0.5.23 with sampling_seed; exllamav3 1.6.5
"""


def _apply(row: WorkingRow, step: RecipeStep, context: RowContext) -> WorkingRow:
    return row.raced_on_grid(step.count())


GUMBEL_RACE = Processor(
    name="gumbel-race",
    metavar="N",
    summary="the law of Gumbel-max draws with uniforms on N points, 1 .. N",
    value=read_points,
    apply=_apply,
    page=PAGE,
    any_stage=True,
)
