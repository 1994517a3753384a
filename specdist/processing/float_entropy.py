"""The cuts of a dumped row that need its entropy: typical-p and eta.

Entropies are not rational; they are enclosed, and a token inside the enclosure adds
`undecided-precision`.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from specdist.exact.float_sum import exact_sum
from specdist.processing.cut_remarks import blurred_remark, prefix_remarks
from specdist.processing.float_cuts import keep_share
from specdist.processing.float_levels import levels_of
from specdist.processing.float_weights import UNIT, FloatArray

if TYPE_CHECKING:
    from specdist.processing.float_row import FloatRow


def _mean_argument(row: FloatRow, weights: FloatArray) -> tuple[FloatArray, float, float]:
    """Arguments a = (z - max z) / T of a row, their mean under the law, and the error of the mean.

    The entropy is ``H = ln (W / max w) - mean a``. Each product carries a few units; a pairwise
    sum of n terms adds log2 n more: 2**-46 of the mean size covers rows of up to 2**24 tokens.
    """
    row = row.as_logits()
    scores = row.scores()
    arguments = (scores - scores.max()) / float(row.temperature)
    total = float(weights.sum())
    mean = float((weights * arguments).sum()) / total
    error = 2.0**-46 * (abs(mean) + 1.0) + 4 * float(row.score_error / row.temperature)
    return arguments, mean, error


def keep_typical(row: FloatRow, mass: Fraction, boundary: str) -> FloatRow:
    """See `WorkingRow.keep_typical`: ``|-ln p - H|`` equals ``|a - mean a|``."""
    weights, bound = row.weighed(row.scores())
    arguments, mean, error = _mean_argument(row, weights)
    shifts = np.abs(arguments - mean)
    total = exact_sum(weights)
    levels = levels_of(-shifts, np.ones_like(shifts))
    order = np.argsort(shifts, kind="stable")
    ends = np.cumsum(levels.counts)
    level, before = _typical_level(weights[order], ends, mass * total, boundary == "exceed")
    last = float(-levels.scores[level])
    kept = shifts <= last
    blurred = np.abs(shifts - last) <= 2 * error
    after = exact_sum(weights[kept])
    remarks = prefix_remarks(
        "typical-p", mass, before / total, None if kept.all() else after / total, bound
    )
    if len(np.unique(row.ranks()[blurred])) > 1:
        remarks += (blurred_remark("typical-p", "the order of two tokens around the cut"),)
    return row.chosen(np.flatnonzero(kept), "keeps no token", remarks)


def _typical_level(
    weights: FloatArray, ends: NDArray[np.intp], mass: Fraction, exceed: bool
) -> tuple[int, Fraction]:
    """The first level whose tokens bring the mass to the wanted one, and the mass before it."""
    cumulative = np.cumsum(weights)[ends - 1]
    level = min(int(np.searchsorted(cumulative, float(mass))), len(ends) - 1)

    def mass_through(index: int) -> Fraction:
        return exact_sum(weights[: ends[index]]) if index >= 0 else Fraction(0)

    def reached(value: Fraction) -> bool:
        return value > mass if exceed else value >= mass

    while level > 0 and reached(mass_through(level - 1)):
        level -= 1
    while level < len(ends) - 1 and not reached(mass_through(level)):
        level += 1
    return level, mass_through(level - 1)


def keep_eta(row: FloatRow, epsilon: Fraction) -> FloatRow:
    """See `WorkingRow.keep_eta`: the threshold is ``min(epsilon, sqrt(epsilon) exp(-H))``."""
    weights, bound = row.weighed(row.scores())
    _, mean, error = _mean_argument(row, weights)
    entropy = float(np.log(weights.sum() / weights.max())) - mean
    scaled = Fraction(float(np.sqrt(float(epsilon)) * np.exp(-entropy)))
    slack = scaled * (Fraction(2 * error) + 64 * UNIT + 4 * bound)
    if scaled - slack > epsilon:
        return keep_share(row, "eta", weights, epsilon, Fraction(0), bound)
    return keep_share(row, "eta", weights, min(scaled, epsilon), slack, bound)
