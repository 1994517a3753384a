"""Inverse CDF: the law really drawn with a uniform on a grid."""

from __future__ import annotations

from specdist.model.recipe import RecipeStep
from specdist.processing.context import RowContext
from specdist.processing.grid_points import read_points
from specdist.processing.processor import Processor
from specdist.processing.working_row import WorkingRow

PAGE = """\
inverse-cdf N draws by inverse CDF with a uniform on N points.

formula     the smallest x with u < C(x), u uniform on k/N, k = 0 .. N-1, and
            C(x) = p(0) + ... + p(x). Token x gets
            (ceil(C(x) N) - ceil(C(x-1) N)) / N.
value       a whole number from 1 to 2^53, also written 2^24.
tie rule    u = C(x) belongs to the next token.
empty row   cannot happen: N points are given away.

The total variation from p is at most V / (2 N) for V possible tokens. A token
may lose all its points; it is impossible then. On rows of logits the points are
decided exactly up to 128 tokens; on larger ones a C(x) N within the rounding
bound of a whole number adds undecided-precision.

example
  $ specdist what-if --target 1/3,1/3,1/3 --draft 1/3,1/3,1/3 \\
      --role drafted_from=inverse-cdf:8
   |  token  reference   drafted    tested    output
   |  2            1/3       1/4       1/3       1/4
   |  0            1/3       3/8       1/3       3/8
   |  1            1/3       3/8       1/3       3/8

engines
  C(x) >= u    llama.cpp 0c1e57098 src/llama-sampler.cpp (a double uniform) and
               Ollama sample/samplers.go (a float32): the same law but for grid
               points that hit a C(x), which they give to x
  grids        torch.rand has N = 2^24 in float32 and N = 2^53 in float64
"""


def _apply(row: WorkingRow, step: RecipeStep, context: RowContext) -> WorkingRow:
    return row.drawn_on_grid(step.count())


INVERSE_CDF = Processor(
    name="inverse-cdf",
    metavar="N",
    summary="the law of inverse-CDF draws with a uniform on N points, 0 .. N-1",
    value=read_points,
    apply=_apply,
    page=PAGE,
    aliases=("icdf",),
    any_stage=True,
)
