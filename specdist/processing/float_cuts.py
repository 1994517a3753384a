"""The steps that drop tokens of a dumped row: top-k, top-p, min-p and the entropy cutoffs.

Every threshold is compared with exact numbers: a weight with a rational threshold through the
nearest float64 on the right side, a cumulative mass through exact sums. Entropies are not rational;
they are enclosed, and a token inside the enclosure adds `undecided-precision`.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from specdist.exact.float_sum import exact_dots, exact_sum
from specdist.processing.cut_remarks import cut_remarks, prefix_remarks, share_slack
from specdist.processing.float_levels import (
    PrefixCut,
    float_above,
    float_at_least,
    levels_of,
    prefix_cut,
    top_levels,
)
from specdist.processing.float_weights import UNIT, FloatArray
from specdist.processing.working_row import Remark

if TYPE_CHECKING:
    from specdist.processing.float_row import FloatRow

_ALL = "keeps no token"


def keep_top(row: FloatRow, count: int, ties: str) -> FloatRow:
    """See `WorkingRow.keep_top`."""
    scores = row.ranks()
    if count >= len(scores):
        return row
    last = float(np.partition(scores, len(scores) - count)[len(scores) - count])
    remarks = order_remarks(row, scores, last, "top-k")
    if ties == "all":
        return row.chosen(np.flatnonzero(scores >= last), _ALL, remarks)
    above = scores > last
    kept = above.copy()
    kept[np.flatnonzero(scores == last)[: count - int(np.count_nonzero(above))]] = True
    return row.chosen(np.flatnonzero(kept), _ALL, remarks)


def order_remarks(row: FloatRow, scores: FloatArray, last: float, step: str) -> tuple[Remark, ...]:
    """A remark where rounding of the scores blurs the order around the score ``last``."""
    if not row.score_error or row.order is not None:
        return ()
    close = np.abs(scores - last) <= 4 * float(row.score_error)
    if np.count_nonzero(close) < 2:
        return ()
    return (_blurred(step, "the order of two tokens at the cut"),)


def keep_prefix(row: FloatRow, mass: Fraction, boundary: str, ties: str) -> FloatRow:
    """See `WorkingRow.keep_prefix`."""
    if row.coded is not None:
        levels, bound = row.levels()
        total = exact_dots(levels.weights, [levels.counts], row.size)[0]
    else:
        weights, bound = row.weighed(row.scores())
        total = exact_sum(weights)
        levels = top_levels(row.ranks(), weights, mass * total)
    cut = prefix_cut(levels, mass * total, boundary == "exceed")
    if cut is None:
        return row.chosen(np.arange(len(row.tokens())), _ALL, _all_kept(mass, bound))
    kept_ties = cut.tied if ties == "all" else cut.kept_ties
    entries = _with_ties(row.ranks(), cut.score, kept_ties, last_ids=ties == "highest-id")
    remarks = _prefix_remarks("top-p", cut, mass, total, bound, ties)
    remarks += order_remarks(row, row.ranks(), cut.score, "top-p")
    return row.chosen(entries, _ALL, remarks)


def _all_kept(mass: Fraction, bound: Fraction) -> tuple[Remark, ...]:
    return prefix_remarks("top-p", mass, Fraction(1), None, bound)


def _prefix_remarks(
    step: str, cut: PrefixCut, mass: Fraction, total: Fraction, bound: Fraction, ties: str
) -> tuple[Remark, ...]:
    before, reached = (
        (cut.mass_before_ties, cut.mass_with_ties)
        if ties == "all"
        else (cut.mass_without, cut.mass_with)
    )
    everything = reached == total
    return prefix_remarks(
        step, mass, before / total, None if everything else reached / total, bound
    )


def _with_ties(scores: FloatArray, last: float, kept_ties: int, last_ids: bool) -> NDArray[np.intp]:
    """Entries above ``last`` and ``kept_ties`` of those equal to it, rising."""
    kept = scores > last
    tied = np.flatnonzero(scores == last)
    kept[tied[len(tied) - kept_ties :] if last_ids else tied[:kept_ties]] = True
    return np.flatnonzero(kept)


def keep_relative(row: FloatRow, fraction: Fraction, strict: bool) -> FloatRow:
    """See `WorkingRow.keep_relative`. The largest scores have the ratio 1, whatever is rounded."""
    if not fraction:
        return row
    best = row.ranks() == row.ranks().max()
    weights, bound = row.weighed(row.scores())
    largest = Fraction(float(weights.max()))
    threshold = fraction * largest
    floor = float_above(threshold) if strict else float_at_least(threshold)
    above = (weights >= floor) & ~best if fraction < 1 else np.zeros_like(best)
    kept = above | best if fraction < 1 or (fraction == 1 and not strict) else above
    remarks: tuple[Remark, ...] = ()
    if not best.all():
        nearest = Fraction(_nearest(weights[~best], floor)) / largest
        slack = 2 * bound * nearest if fraction < 1 else Fraction(0)  # 1 is told by the scores
        remarks = cut_remarks("min-p", "ratio to the largest", fraction, nearest, slack)
    return row.chosen(np.flatnonzero(kept), "(min-p) keeps no token", remarks)


def keep_at_least(row: FloatRow, probability: Fraction) -> FloatRow:
    """See `WorkingRow.keep_at_least`."""
    weights, bound = row.weighed(row.scores())
    return _keep_share(row, "epsilon", weights, probability, Fraction(0), bound)


def _keep_share(
    row: FloatRow,
    step: str,
    weights: FloatArray,
    share: Fraction,
    share_error: Fraction,
    bound: Fraction,
) -> FloatRow:
    """Tokens with ``w / sum w >= share``; the largest always stay."""
    best = row.ranks() == row.ranks().max()
    total = exact_sum(weights)
    floor = float_at_least(share * total)
    remarks: tuple[Remark, ...] = ()
    if not best.all():
        nearest = Fraction(_nearest(weights[~best], floor)) / total
        slack = share_slack(nearest, bound) + share_error
        remarks = cut_remarks(step, "probability", share, nearest, slack)
    return row.chosen(np.flatnonzero((weights >= floor) | best), _ALL, remarks)


def _nearest(weights: FloatArray, threshold: float) -> float:
    return float(weights[np.argmin(np.abs(weights - threshold))])


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
        remarks += (_blurred("typical-p", "the order of two tokens around the cut"),)
    return row.chosen(np.flatnonzero(kept), _ALL, remarks)


def _blurred(step: str, what: str) -> Remark:
    return Remark("undecided-precision", f"{step}: {what} is within the rounding bound")


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
        return _keep_share(row, "eta", weights, epsilon, Fraction(0), bound)
    return _keep_share(row, "eta", weights, min(scaled, epsilon), slack, bound)
