"""The steps that drop tokens of an exact row: top-k, top-p, min-p and epsilon."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from specdist.processing.cut_remarks import (
    cut_remarks,
    prefix_remarks,
    share_slack,
    unspecified_remark,
)
from specdist.processing.exact_signs import decided, exact_signs, prefix_length
from specdist.processing.logit import ZERO, ranked
from specdist.processing.rational_remakes import cut_share
from specdist.processing.working_row import Remade, Remark

if TYPE_CHECKING:
    from specdist.processing.rational_row import RationalRow


def keep_top(row: RationalRow, count: int, ties: str) -> RationalRow:
    """See `WorkingRow.keep_top`."""
    if count >= len(row.logits):
        return row
    kept: list[int] = []
    group: list[int] = []
    for group in ranked(row.logits):
        if len(kept) + len(group) >= count:
            break
        kept += group
    remarks = row.order_remarks("top-k", group[0])
    chosen = group if ties == "all" else group[: count - len(kept)]
    if ties == "any":
        remarks += unspecified_remark(group, len(chosen))
    return row.kept({*kept, *chosen}, remarks)


def keep_prefix(row: RationalRow, mass: Fraction, boundary: str, ties: str) -> RationalRow:
    """See `WorkingRow.keep_prefix`."""
    weighed = row.weights()
    total = weighed.total
    wanted = mass * total
    units = list(_units(ranked(row.logits), ties))
    kept: list[int] = []
    before = reached = ZERO
    length = 0
    for unit in units:
        kept += unit
        length += 1
        before, reached = reached, reached + sum(weighed.by_token[x] for x in unit)
        if reached > wanted or (reached == wanted and boundary != "exceed"):
            break
    share = reached / total if len(kept) < len(row.logits) or boundary == "partial" else None
    remarks = prefix_remarks("top-p", mass, before / total, share, weighed.bound)
    remarks += row.order_remarks("top-p", kept[-1])
    if boundary == "partial":
        cut = cut_share(before, wanted, len(units[length - 1]), weighed.bound)
        whole = {x: weighed.by_token[x] for unit in units[: length - 1] for x in unit}
        made = whole | dict.fromkeys(units[length - 1], cut.weight)
        step = ("partial", mass, ties)
        return row.remade(Remade(made, row.size, cut.bound, step, remarks=remarks))
    signs = exact_signs(row.logits, remarks)
    if signs is not None:
        length = prefix_length(signs, units, length, mass, boundary == "reach")
        kept = [token for unit in units[:length] for token in unit]
        remarks = decided(remarks)
    return row.kept(set(kept), remarks)


def _units(groups: list[list[int]], ties: str) -> list[list[int]]:
    """What a prefix grows by: whole groups of tied tokens, or tokens in the order of the rule."""
    if ties == "all":
        return groups
    return [[x] for group in groups for x in (group if ties == "lowest-id" else reversed(group))]


def keep_relative(row: RationalRow, fraction: Fraction, strict: bool) -> RationalRow:
    """See `WorkingRow.keep_relative`."""
    weighed = row.weights()
    best = set(ranked(row.logits)[0])
    largest = max(weighed.by_token.values())
    ratios = {x: weight / largest for x, weight in weighed.by_token.items() if x not in best}
    kept = best if fraction < 1 or (fraction == 1 and not strict) else set()
    if fraction < 1:  # a ratio of 1 is told by the order, whatever is rounded
        kept = kept | {x for x, ratio in ratios.items() if ratio > fraction}
        kept |= set() if strict else {x for x, ratio in ratios.items() if ratio == fraction}
    remarks: tuple[Remark, ...] = ()
    if ratios:
        nearest = min(ratios.values(), key=lambda ratio: abs(ratio - fraction))
        slack = share_slack(nearest, weighed.bound) if fraction < 1 else ZERO
        remarks = cut_remarks("min-p", "relative probability", fraction, nearest, slack)
    if fraction == 1:
        remarks += row.order_remarks("min-p", min(best))
    signs = exact_signs(row.logits, remarks)
    if signs is not None:
        top, least = min(best), 1 if strict else 0
        kept = best | {x for x in ratios if signs.ratio_minus(x, top, fraction) >= least}
        remarks = decided(remarks)
    return row.kept(kept, remarks)


def keep_at_least(row: RationalRow, probability: Fraction) -> RationalRow:
    """See `WorkingRow.keep_at_least`."""
    masses, bound = row.shares()
    best = set(ranked(row.logits)[0])
    others = {x: share for x, share in masses.items() if x not in best}
    remarks: tuple[Remark, ...] = ()
    if others:
        nearest = min(others.values(), key=lambda share: abs(share - probability))
        slack = share_slack(nearest, bound)
        remarks = cut_remarks("epsilon", "probability", probability, nearest, slack)
    if masses[min(best)] < probability:
        remarks += row.order_remarks("epsilon", min(best))
    kept = {x for x in others if others[x] >= probability}
    signs = exact_signs(row.logits, remarks)
    if signs is not None:
        kept = {x for x in others if signs.mass_minus([x], probability) >= 0}
        remarks = decided(remarks)
    return row.kept(kept | best, remarks)
