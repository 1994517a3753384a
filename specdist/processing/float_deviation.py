"""Top-n-sigma on a dumped row: distances from the largest logit against the deviation."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from specdist.processing.cut_remarks import cut_remarks
from specdist.processing.working_row import Remark

if TYPE_CHECKING:
    from specdist.processing.float_row import FloatRow


def keep_within_deviations(row: FloatRow, count: Fraction) -> FloatRow:
    """See `WorkingRow.keep_within_deviations`.

    A token stays iff ``(max z - z)**2 <= count**2 * variance``. Both sides are computed in
    float64; entries within 2**-40 of the boundary are decided with fractions.
    """
    logits = row.as_logits()
    scores = logits.scores()
    with np.errstate(over="ignore", invalid="ignore"):
        gaps = scores.max() - scores
        centred = scores - scores.mean()
        spread = float(count) * float(np.sqrt(np.mean(centred * centred)))
        kept = gaps <= spread
        margins = np.abs(gaps - spread)
        near = margins <= 2.0**-40 * (spread + np.abs(scores).max())
    unsure = np.flatnonzero(near | ~np.isfinite(margins))
    remarks: tuple[Remark, ...] = ()
    if len(unsure):
        exact = [Fraction(score) for score in scores.tolist()]
        total = sum(exact, Fraction(0))
        squares = sum((score * score for score in exact), Fraction(0))
        limit = count**2 * (squares / len(exact) - (total / len(exact)) ** 2)
        largest = max(exact)
        for entry in unsure.tolist():
            kept[entry] = (largest - exact[entry]) ** 2 <= limit
        if logits.score_error and np.isfinite(spread):
            remarks = cut_remarks(
                "top-n-sigma",
                "distance",
                Fraction(spread),
                Fraction(spread),
                logits.score_error,
            )
    return row.chosen(np.flatnonzero(kept), "keeps no token", remarks)
