"""Proven lower bounds of the overlap of large groups of tokens; see `overlap_lower`.

For weights lambda, mu and scales t, s the objective is a sum over tokens, and a token costs

    inside S:   t (lambda low + (1 - lambda) high) + (1 - lambda) extra     of the target,
    outside S:  s (mu low + (1 - mu) high) + (1 - mu) extra                 of the draft,

so S holds the tokens with the smaller first cost. Costs are sums of non-negative products with at
most 6 roundings; a rounded comparison errs only between costs within 12 u of each other, u =
2**-53, and loses no more than 16 u of the smaller ones in all.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from specdist.exact.concave_height import Plane
from specdist.exact.float_groups import Group, Half, Mask
from specdist.exact.float_masses import FloatArray, sum_down, sum_up
from specdist.exact.interval import Interval
from specdist.exact.overlap_items import Item, merged
from specdist.exact.overlap_lower import LowerProblem, problem_of
from specdist.exact.partial_masses import Box

_ZERO, _ONE = Fraction(0), Fraction(1)
_LOST = Fraction(16, 2**53)
_TINY = Fraction(1, 2**1000)
_MARGIN = 2.0**-48


class Weights(NamedTuple):
    """Scales t and s, lambda and mu."""

    t: Fraction
    s: Fraction
    target: Fraction
    draft: Fraction


@dataclass(frozen=True, eq=False)
class Relaxed:
    """The best set for some weights: a proven bound of every set there, the bound of this set as a
    function of (lambda, mu), L, W and E of both sides without the items, and what is in S."""

    weights: Weights
    value: Fraction
    plane: Plane[Fraction]
    target: Box
    draft: Box
    inside: tuple[Mask, ...]
    chosen: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class Relaxation:
    """Open tokens: groups, and items of which any number may be in S. ``settled``: L, W and E of
    both sides from all other tokens. Sums are rounded so that bounds stay proven."""

    groups: tuple[Group, ...]
    items: tuple[Item, ...]
    settled: tuple[Box, Box]

    def at(self, weights: Weights) -> Relaxed:
        """The best set for some weights."""
        t, s, lam, mu = weights
        lost, masks = _ZERO, []
        for group in self.groups:
            costs = _costs(group.target, t, lam), _costs(group.draft, s, mu)
            masks.append(costs[0] <= costs[1])
            lost += sum_up(np.minimum(*costs))
        chosen = tuple(
            item.tokens if _cost(item.target, t, lam) <= _cost(item.draft, s, mu) else 0
            for item in self.items
        )
        target, draft = self._sums(masks)
        first, second = self.with_items(target, draft, chosen)
        tight, full = t * first.low, _ONE - first.extra - t * first.high
        drawn, kept = s * second.low, _ONE - second.extra - s * second.high
        plane = Plane(full + kept, tight - full, drawn - kept)
        value = plane.height + plane.x_slope * lam + plane.y_slope * mu - _LOST * lost - _TINY
        return Relaxed(weights, value, plane, target, draft, tuple(masks), chosen)

    def with_items(
        self, target: Box, draft: Box, chosen: Sequence[int], but: int | None = None
    ) -> tuple[Box, Box]:
        """L, W and E of both sides with so many tokens of each item in S, of all items but one."""
        for i, ((tokens, one, other), some) in enumerate(zip(self.items, chosen, strict=True)):
            if i == but:
                continue
            target = _counted(target, one, some, tokens - some)
            draft = _counted(draft, other, tokens - some, some)
        return target, draft

    def indifferent(self, weights: Weights, gap: Fraction) -> list[Mask]:
        """The tokens of each group whose other place may cost no more than ``gap``."""
        t, s, lam, mu = weights
        masks = []
        for group in self.groups:
            costs = _costs(group.target, t, lam), _costs(group.draft, s, mu)
            room = float(gap) * (1 + _MARGIN) + _MARGIN * (costs[0] + costs[1])
            masks.append(np.abs(costs[0] - costs[1]) <= room)
        return masks

    @property
    def size(self) -> int:
        """How many tokens are open, without the items."""
        return sum(map(len, self.groups))

    def narrowed(self, inside: Sequence[Mask], left: Sequence[Mask]) -> Relaxation:
        """The tokens that are ``left`` stay open, the others settle: in S where ``inside``."""
        if all(mask.all() for mask in left):
            return self
        groups = (group.among(mask) for group, mask in zip(self.groups, left, strict=True))
        settled = self._sums(inside, [~mask for mask in left])
        return Relaxation(tuple(group for group in groups if len(group)), self.items, settled)

    def problem(self, scales: tuple[Interval, Interval]) -> LowerProblem:
        """The search over single tokens."""
        single = [item for group in self.groups for item in singles(group)]
        return problem_of(self.settled, merged([*self.items, *single]), *scales)

    def _sums(self, inside: Sequence[Mask], among: Sequence[Mask] | None = None) -> tuple[Box, Box]:
        target, draft = self.settled
        for i, (group, here) in enumerate(zip(self.groups, inside, strict=True)):
            there = ~here
            if among is not None:
                here, there = here & among[i], there & among[i]
            target = _with(target, group.target, here, there)
            draft = _with(draft, group.draft, there, here)
        return target, draft


def singles(group: Group) -> list[Item]:
    """The tokens of a group one by one."""
    rows = zip(
        *(side.tolist() for half in (group.target, group.draft) for side in (half.low, half.high)),
        strict=True,
    )
    return [
        Item(
            1,
            Box(Fraction(a), Fraction(b), group.target.extra),
            Box(Fraction(c), Fraction(d), group.draft.extra),
        )
        for a, b, c, d in rows
    ]


def _costs(half: Half, scale: Fraction, weight: Fraction) -> FloatArray:
    low = half.low * float(scale * weight)
    return low + half.high * float(scale * (1 - weight)) + float((1 - weight) * half.extra)


def _cost(box: Box, scale: Fraction, weight: Fraction) -> Fraction:
    return scale * weight * box.low + (1 - weight) * (scale * box.high + box.extra)


def _with(sums: Box, half: Half, counted: Mask, others: Mask) -> Box:
    """L with the tokens of a group that are counted, W and E with the others."""
    low = sum_down(half.low * counted)
    high = sum_up(half.high * others)
    extra = half.extra * int(np.count_nonzero(others)) if half.extra else _ZERO
    return Box(sums.low + low, sums.high + high, sums.extra + extra)


def _counted(sums: Box, box: Box, counted: int, others: int) -> Box:
    return Box(
        sums.low + counted * box.low,
        sums.high + others * box.high,
        sums.extra + others * box.extra,
    )
