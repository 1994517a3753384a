"""The overlap of two large partial laws: float64 arrays in, proven ends out.

Tokens whose order is the same at all scales are settled by one comparison and enter as two items;
the ends are worked out from those that are left, in fractions where they are few. Sums are rounded
outwards. Time: a few passes over the arrays; memory: a few arrays.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from specdist.exact.float_cuts import added, group_cuts
from specdist.exact.float_groups import Group, Mask, joined, settled, worth_moving
from specdist.exact.float_lower import FEW, FloatLower
from specdist.exact.float_relaxation import Relaxation, singles
from specdist.exact.interval import Interval
from specdist.exact.overlap_items import Item, Pair, merged, pair_of, unlisted_items
from specdist.exact.overlap_lower import lower_problem
from specdist.exact.overlap_upper import Cut, cuts_at, highest_over
from specdist.exact.partial_law import PartialLaw
from specdist.exact.partial_masses import Totals, negligible
from specdist.exact.set_search import least

_NEGLIGIBLE = Fraction(1, 2**40)
_CUTS = 12


def float_overlap(laws: tuple[PartialLaw, PartialLaw], sides: tuple[Totals, Totals]) -> Interval:
    """See `overlap_bounds.overlap`."""
    both = joined(*laws, sides)
    scales = (sides[0].scale, sides[1].scale)
    items: list[Item] = []
    groups: list[Group] = []
    for group in both.groups:
        sure, left = settled(group, *scales)
        items += sure
        groups += [left] if len(left) else []
    if sum(map(len, groups)) <= FEW:
        items = list(merged([*items, *(item for group in groups for item in singles(group))]))
        groups = []
    unlisted = unlisted_items(laws, sides, both.target_only, both.draft_only)
    most = _most(pair_of((*items, *unlisted.together), *scales), groups)
    lowest = _least(pair_of((*items, *unlisted.apart), *scales), groups, sides)
    return Interval(min(lowest, most), most)


def _most(pair: Pair, groups: list[Group]) -> Fraction:
    def cuts(t: Fraction, s: Fraction) -> list[Cut]:
        found = cuts_at(pair, t, s)
        for group in groups:
            found = [added(*two) for two in zip(found, group_cuts(group, t, s), strict=True)]
        return found

    return highest_over(pair.target_scale, pair.draft_scale, cuts, _NEGLIGIBLE, _CUTS)


def _least(pair: Pair, groups: list[Group], sides: tuple[Totals, Totals]) -> Fraction:
    """Proven, and within a small share of what the bounds of the listed tokens leave open."""
    enough = max(_NEGLIGIBLE, negligible(sides))
    scales, problem = (pair.target_scale, pair.draft_scale), lower_problem(pair)
    if not groups:
        return least(problem, enough)
    sure, items = problem.parts()
    relaxation = Relaxation(tuple(groups), items, sure).narrowed(
        [np.full(len(group), group.unlisted == 0) for group in groups],
        [_worth_moving(group, sides) for group in groups],
    )
    if relaxation.size <= FEW:
        return least(relaxation.problem(scales), enough)
    return FloatLower(relaxation, scales, enough).least()


def _worth_moving(group: Group, sides: tuple[Totals, Totals]) -> Mask:
    if group.unlisted is None:
        return np.ones(len(group), np.bool_)
    return worth_moving(group, sides[group.unlisted])
