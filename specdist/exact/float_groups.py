"""Two large partial laws side by side: groups of tokens as float64 arrays.

Bounds in fractions are rounded outwards to float64, which leaves more distributions and so only
widens an interval. A group keeps its arrays; what one side does not list is one number for all.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import ceil

import numpy as np
from numpy.typing import NDArray

from specdist.exact.float_masses import FloatArray, bounds, float_up, sum_down, sum_up
from specdist.exact.interval import Interval
from specdist.exact.overlap_items import Item
from specdist.exact.partial_law import PartialLaw
from specdist.exact.partial_masses import Box, Totals

Mask = NDArray[np.bool_]
_MARGIN = 2.0**-48
_SPARSE = 64


@dataclass(frozen=True, eq=False)
class Half:
    """Bounds of the tokens of a group on one side: ``t low <= p <= t high + extra``."""

    low: FloatArray
    high: FloatArray
    extra: Fraction = Fraction(0)

    def at(self, places: NDArray[np.intp]) -> Half:
        return Half(self.low[places], self.high[places], self.extra)

    def box(self, kept: Mask) -> Box:
        """The sums over some tokens, rounded outwards; ``extra`` belongs to groups that keep their
        tokens single."""
        some = int(np.count_nonzero(kept))
        low = sum_down(self.low * kept)
        return Box(low, sum_up(self.high * kept), some * self.extra)


@dataclass(frozen=True, eq=False)
class Group:
    """Tokens with their bounds under target and draft, in one order. ``unlisted``: the side, 0 or
    1, that gives all of them the same bounds because it does not list them."""

    target: Half
    draft: Half
    unlisted: int | None = None

    def __len__(self) -> int:
        return len(self.target.low)

    def among(self, kept: Mask) -> Group:
        """Some of the tokens."""
        places = np.flatnonzero(kept)
        return Group(self.target.at(places), self.draft.at(places), self.unlisted)


@dataclass(frozen=True, eq=False)
class Joined:
    """The listed tokens of two laws: A, B and C as groups, and how many B and C hold."""

    groups: tuple[Group, ...]
    target_only: int
    draft_only: int


def joined(target: PartialLaw, draft: PartialLaw, sides: tuple[Totals, Totals]) -> Joined:
    """``sides``: target and draft as a whole."""
    first, second = Half(*bounds(target)), Half(*bounds(draft))
    mine, theirs = np.asarray(target.ids, np.intp), np.asarray(draft.ids, np.intp)
    if mine is theirs or np.array_equal(mine, theirs):
        return Joined((Group(first, second),), 0, 0)
    shared, held = common(mine, theirs)
    here, only_here = np.flatnonzero(shared), np.flatnonzero(~shared)
    there, only_there = np.flatnonzero(held), np.flatnonzero(~held)
    groups = [Group(first.at(here), second.at(there))] if len(here) else []
    counts = len(only_here), len(only_there)
    if counts[0]:
        elsewhere = _everywhere(sides[1].unlisted, counts[0])
        groups.append(Group(first.at(only_here), elsewhere, unlisted=1))
    if counts[1]:
        elsewhere = _everywhere(sides[0].unlisted, counts[1])
        groups.append(Group(elsewhere, second.at(only_there), unlisted=0))
    return Joined(tuple(groups), *counts)


def common(mine: NDArray[np.intp], theirs: NDArray[np.intp]) -> tuple[Mask, Mask]:
    """Which ids of each array the other holds too; both are rising."""
    if not len(mine) or not len(theirs):
        return np.zeros(len(mine), np.bool_), np.zeros(len(theirs), np.bool_)
    largest = int(max(mine[-1], theirs[-1]))
    if largest > _SPARSE * (len(mine) + len(theirs)):
        return np.isin(mine, theirs), np.isin(theirs, mine)
    held = np.zeros(largest + 1, np.int8)
    held[mine] = 1
    held[theirs] += 1
    return held[mine] == 2, held[theirs] == 2


def settled(group: Group, first: Interval, second: Interval) -> tuple[tuple[Item, ...], Group]:
    """Tokens with target <= draft, or draft <= target, at all scales: as one item each. And the
    other tokens as a group."""
    below = _never_above(group.target, group.draft, first, second)
    above = _never_above(group.draft, group.target, second, first) & ~below
    items = tuple(
        Item(1, group.target.box(kept), group.draft.box(kept))
        for kept in (below, above)
        if kept.any()
    )
    left = ~(below | above)
    return items, group if left.all() else group.among(left)


def worth_moving(group: Group, side: Totals) -> Mask:
    """Of tokens that ``side`` does not list, those that a set of least overlap may leave to it.

    Left to it, a token of the draft (say) costs what the draft gives it, and takes up to ``t cap``
    of the rest of the target. Enough tokens to take the whole rest are enough, and where bounds are
    in one order the smallest ones are the best.
    """
    values = group.draft if group.unlisted == 0 else group.target
    least = side.scale.least
    each = least * side.unlisted.high + side.unlisted.extra
    needed = ceil((1 - least * side.listed.low) / each) if each else len(group)
    every = np.ones(len(group), np.bool_)
    if needed >= len(group):
        return every
    smallest = values.low <= np.partition(values.low, max(needed, 1) - 1)[max(needed, 1) - 1]
    sorted_alike = smallest.all() or values.high[~smallest].min() >= values.high[smallest].max()
    return smallest if sorted_alike else every


def _never_above(some: Half, other: Half, first: Interval, second: Interval) -> Mask:
    """Tokens with ``t high + extra <= s low'`` for all scales, decided on the safe side."""
    if not some.extra and first.most == second.least:
        return some.high <= other.low
    most, least = float_up(first.most), float(second.least)
    largest = some.high * (most * (1 + _MARGIN)) + float_up(some.extra)
    return largest * (1 + _MARGIN) <= other.low * (least * (1 - _MARGIN))


def _everywhere(box: Box, size: int) -> Half:
    """The same bounds for every token."""
    high = np.broadcast_to(np.float64(float_up(box.high)), size)
    return Half(np.broadcast_to(np.float64(0.0), size), high, box.extra)
