"""The steps that drop tokens of a dumped row: temperature 0, top-k, top-p, min-p and epsilon.

Every threshold is compared with exact numbers: a weight with a rational threshold through the
nearest float64 on the right side, a cumulative mass through exact sums.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from specdist.exact.float_sum import exact_dots, exact_sum
from specdist.processing.cut_remarks import (
    blurred_remark,
    cut_remarks,
    prefix_remarks,
    share_slack,
    tie_remark,
    unspecified_remark,
)
from specdist.processing.float_levels import (
    PrefixCut,
    float_above,
    float_at_least,
    prefix_cut,
    top_levels,
)
from specdist.processing.float_remakes import of_weights
from specdist.processing.float_weights import UNIT, FloatArray
from specdist.processing.rational_remakes import cut_share
from specdist.processing.working_row import Remark

if TYPE_CHECKING:
    from specdist.processing.float_row import FloatRow

_ALL = "keeps no token"
_ZERO = Fraction(0)


def argmax(row: FloatRow, ties: str) -> FloatRow:
    """See `WorkingRow.argmax`."""
    scores = row.ranks()
    tied = row.tokens()[scores == scores.max()]
    remarks = order_remarks(row, scores, float(scores.max()), "temperature 0")
    if ties != "all":
        remarks += tie_remark(tied.tolist())
        tied = tied[:1]
    even = np.ones(len(tied))
    made = of_weights(row, tied, even, _ZERO, Fraction(len(tied)), "even", remarks=remarks)
    origin = ("point", int(tied[0])) if len(tied) == 1 else ("even", tied.tobytes())
    return replace(made, origin=origin)


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
    tied = np.flatnonzero(scores == last)
    few = count - int(np.count_nonzero(above))
    if ties == "any":
        remarks += unspecified_remark(row.tokens()[tied].tolist(), few)
    above[tied[:few]] = True
    return row.chosen(np.flatnonzero(above), _ALL, remarks)


def order_remarks(row: FloatRow, scores: FloatArray, last: float, step: str) -> tuple[Remark, ...]:
    """A remark where rounding of the scores blurs the order around the score ``last``."""
    error = row.score_error if row.logits else row.weight_error * Fraction(abs(last))
    if not error or row.order is not None:
        return ()
    close = np.abs(scores - last) <= 4 * float(error)
    if np.count_nonzero(close) < 2:
        return ()
    return (blurred_remark(step, "the order of two tokens at the cut"),)


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
    if cut is not None and boundary == "partial":
        return _partial(row, cut, mass, total, ties)
    if cut is None:
        return row.chosen(np.arange(len(row.tokens())), _ALL, _all_kept(mass, bound))
    kept_ties = cut.tied if ties == "all" else cut.kept_ties
    entries = _with_ties(row.ranks(), cut.score, kept_ties, last_ids=ties == "highest-id")
    remarks = _prefix_remarks("top-p", cut, mass, total, bound, ties)
    remarks += order_remarks(row, row.ranks(), cut.score, "top-p")
    return row.chosen(entries, _ALL, remarks)


def _partial(row: FloatRow, cut: PrefixCut, mass: Fraction, total: Fraction, ties: str) -> FloatRow:
    """The prefix with its last token, or with ``ties`` "all" its last ties, cut to size."""
    ranks = row.ranks()
    tied = np.flatnonzero(ranks == cut.score)
    kept_ties = cut.tied if ties == "all" else cut.kept_ties
    entries = _with_ties(ranks, cut.score, kept_ties, last_ids=ties == "highest-id")
    if ties == "all":
        crossing, before = tied, cut.mass_before_ties
    else:
        place = kept_ties - 1 if ties == "lowest-id" else len(tied) - kept_ties
        crossing, before = tied[place : place + 1], cut.mass_without
    weights, bound = row.weighed(row.scores())
    share = cut_share(before, mass * total, len(crossing), bound)
    weights = weights.copy()
    weights[crossing] = float(share.weight)
    exact = Fraction(float(share.weight)) == share.weight
    kept = weights[entries]
    remarks = _prefix_remarks("top-p", cut, mass, total, bound, ties)
    remarks += order_remarks(row, ranks, cut.score, "top-p")
    return of_weights(
        row,
        row.tokens()[entries],
        kept,
        share.bound if exact else (1 + share.bound) * (1 + 2 * UNIT) - 1,
        exact_sum(kept),
        ("partial", mass, ties),
        remarks=remarks,
    )


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
    if fraction == 1:
        remarks += order_remarks(row, row.ranks(), float(row.ranks().max()), "min-p")
    return row.chosen(np.flatnonzero(kept), "(min-p) keeps no token", remarks)


def keep_at_least(row: FloatRow, probability: Fraction) -> FloatRow:
    """See `WorkingRow.keep_at_least`."""
    weights, bound = row.weighed(row.scores())
    return keep_share(row, "epsilon", weights, probability, Fraction(0), bound)


def keep_share(
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
