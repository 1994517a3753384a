"""Upper bounds of the overlap of large groups, as functions of the scales; see `overlap_upper`."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from specdist.exact.concave_height import Plane
from specdist.exact.float_groups import Group, Half, Mask
from specdist.exact.float_masses import FloatArray, sum_down, sum_up
from specdist.exact.overlap_upper import Cut


def group_cuts(group: Group, t: Fraction, s: Fraction) -> list[Cut]:
    """The pieces of the four terms near (t, s), rounded up; without the constants 0, 1, 1, 2.

    Whatever tokens a mask holds the piece is an upper bound of its term, so the masks may come from
    rounded comparisons.
    """
    mine, theirs = group.target, group.draft
    least, most = mine.low * float(t), mine.high * float(t) + float(mine.extra)
    other_least, other_most = theirs.low * float(s), theirs.high * float(s) + float(theirs.extra)
    by_draft = most > other_most
    over, under = least > other_most, other_least > most
    by_target = least >= other_least
    return [
        Plane(
            _extra(mine, ~by_draft) + _extra(theirs, by_draft),
            _up(mine.high, ~by_draft),
            _up(theirs.high, by_draft),
        ),
        Plane(_extra(theirs, over), -_down(mine.low, over), _up(theirs.high, over)),
        Plane(_extra(mine, under), _up(mine.high, under), -_down(theirs.low, under)),
        Plane(Fraction(0), -_down(mine.low, by_target), -_down(theirs.low, ~by_target)),
    ]


def added(first: Cut, second: Cut) -> Cut:
    return Plane(*(one + other for one, other in zip(first, second, strict=True)))


def _up(values: FloatArray, kept: Mask) -> Fraction:
    return sum_up(values * kept) if kept.any() else Fraction(0)


def _down(values: FloatArray, kept: Mask) -> Fraction:
    return sum_down(values * kept) if kept.any() else Fraction(0)


def _extra(half: Half, kept: Mask) -> Fraction:
    return half.extra * int(np.count_nonzero(kept)) if half.extra else Fraction(0)
