"""Draws on a grid from a dumped row: inverse CDF and Gumbel race."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from specdist.processing.cut_remarks import blurred_remark, share_slack
from specdist.processing.float_remakes import of_weights
from specdist.processing.float_weights import FloatArray
from specdist.processing.grid_cdf import grid_edges
from specdist.processing.grid_race import race, refuse_long_race
from specdist.processing.logit import of_logit, of_probability
from specdist.processing.working_row import Remade

if TYPE_CHECKING:
    from specdist.processing.float_row import FloatRow


def drawn_on_grid(row: FloatRow, points: int) -> FloatRow:
    """See `WorkingRow.drawn_on_grid`: the weights are whole multiples of one power of two."""
    weights, bound = row.weighed(row.scores())
    after, close = grid_edges(_whole(weights), points, share_slack(Fraction(1), bound))
    counts = np.diff(np.array([0, *after], dtype=np.int64))
    kept = np.flatnonzero(counts)
    what = "a cumulative probability at a grid point"
    return of_weights(
        row,
        row.tokens()[kept],
        counts[kept].astype(np.float64),
        Fraction(0),
        Fraction(points),
        ("inverse-cdf", points),
        remarks=(blurred_remark("inverse-cdf", what),) if close else (),
    )


def _whole(weights: FloatArray) -> list[int]:
    """The weights as integers over one power of two."""
    mantissas, exponents = np.frexp(weights)
    whole = (mantissas * 2.0**53).astype(np.int64).tolist()
    shifts = (exponents - exponents.min()).tolist()
    return [mantissa << shift for mantissa, shift in zip(whole, shifts, strict=True)]


def raced_on_grid(row: FloatRow, points: int) -> FloatRow:
    """See `WorkingRow.raced_on_grid`. Scores are taken as they are, their error as slack."""
    scores = row.scores().tolist()
    refuse_long_race(len(scores), points)
    slack = row.score_error / row.temperature if row.logits else 2 * row.weight_error
    if row.logits:
        worths = [of_logit(Fraction(score) / row.temperature) for score in scores]
    else:
        worths = [of_probability(Fraction(score)) for score in scores]
    logits = dict(zip(row.tokens().tolist(), worths, strict=True))
    law, close = race(logits, points, slack)
    remarks = (blurred_remark("gumbel-race", "the order of two noises"),) if close else ()
    made = Remade(law, row.size, Fraction(0), ("gumbel-race", points), remarks=remarks)
    return row.remade(made)
