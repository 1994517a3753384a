"""The least overlap of two partly known distributions, as a search over sets of tokens.

``sum min(p, q) = min over S of p(S) + q(outside S)``, and target and draft vary independently, so

    least overlap = min over S of  min p(S) + min q(outside S),

each part in closed form (`partial_masses.least_mass`). A token with p <= q for all distributions
belongs into S, one with q <= p does not; of the other items only the number of tokens in S counts.
Choosing it is a knapsack, so the search branches and bounds. For weights lambda, mu in [0, 1]

    max(t L, 1 - E - t W) >= lambda t L + (1 - lambda) (1 - E - t W)

(and so for the draft with mu) makes the objective a sum over tokens, which is minimised token by
token. Scales matter at the ends of their range only, and a node of the search narrows that range:
the best scale for a set S is (1 - E) / (L + W), as far as it is allowed.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import NamedTuple

from specdist.exact.concave_height import Plane
from specdist.exact.interval import Interval
from specdist.exact.overlap_items import Item, Masses, Pair, Scaled, pair_of, whole_factors
from specdist.exact.partial_masses import Box, least_mass
from specdist.exact.set_search import Choice, Node, telling_ends

_ZERO, _ONE = Fraction(0), Fraction(1)


class Side(NamedTuple):
    """One law in the search: L, W and E of the tokens whose place is settled, the open items, and
    the scales. The target counts tokens in S, the draft those outside."""

    settled: Masses
    boxes: tuple[Masses, ...]
    scale: Interval


class LowerProblem:
    """How many tokens of each open item are in S. Masses are multiples of ``1 / unit``."""

    def __init__(self, unit: int, counts: tuple[int, ...], target: Side, draft: Side) -> None:
        self.unit, self.counts = unit, counts
        self.target, self.draft = target, draft

    @property
    def root(self) -> Node:
        return Node((0,) * len(self.counts), self.counts)

    def parts(self) -> tuple[tuple[Box, Box], tuple[Item, ...]]:
        """What is settled, and the open items, as fractions; see `problem_of`."""
        target, draft = self.target, self.draft
        rows = zip(self.counts, target.boxes, draft.boxes, strict=True)
        items = tuple(Item(n, self._box(mine), self._box(theirs)) for n, mine, theirs in rows)
        return (self._box(target.settled), self._box(draft.settled)), items

    def _box(self, masses: Masses) -> Box:
        return Box(*(Fraction(x, self.unit) for x in masses))

    def value(self, chosen: Sequence[int]) -> Fraction:
        """``min p(S) + min q(outside S)`` for a set with that many tokens of each item."""
        left = [n - k for n, k in zip(self.counts, chosen, strict=True)]
        return self._least(self.target, chosen, left) + self._least(self.draft, left, chosen)

    def _least(self, side: Side, here: Sequence[int], elsewhere: Sequence[int]) -> Fraction:
        masses = (Fraction(x, self.unit) for x in _sums(side, here, elsewhere))
        return least_mass(side.scale, *masses)

    def scales(self, node: Node) -> tuple[Interval, Interval]:
        """The scales that the best distributions have for some set of the node."""
        outside = [
            [n - k for n, k in zip(self.counts, some, strict=True)]
            for some in (node.least, node.most)
        ]
        return (
            self._scales(self.target, (node.least, outside[0]), (node.most, outside[1])),
            self._scales(self.draft, (outside[1], node.most), (outside[0], node.least)),
        )

    def _scales(
        self, side: Side, few: tuple[Sequence[int], ...], many: tuple[Sequence[int], ...]
    ) -> Interval:
        """``few``: where as little as possible is counted, as (counted, not counted)."""
        ends = []
        for here, elsewhere in (few, many):
            low, high, extra = _sums(side, here, elsewhere)
            free, total = max(self.unit - extra, 0), low + high
            ends.append(Fraction(free, total) if total else (side.scale.most if free else _ZERO))
        first, last = side.scale.least, side.scale.most
        return Interval(*(min(max(end, first), last) for end in ends))

    def choices(
        self, node: Node, scales: tuple[Interval, Interval], lam: Fraction, mu: Fraction
    ) -> list[Choice]:
        """The best set for these weights at each end of the scales. The lowest of the values is a
        bound for every set of the node."""
        firsts, seconds = telling_ends(scales[0], lam), telling_ends(scales[1], mu)
        return [self._choice(node, t, s, lam, mu) for t in firsts for s in seconds]

    def _choice(self, node: Node, t: Fraction, s: Fraction, lam: Fraction, mu: Fraction) -> Choice:
        _, (a, b, f, c, d, g) = whole_factors(
            t * lam, t * (1 - lam), 1 - lam, s * mu, s * (1 - mu), 1 - mu
        )
        chosen = []
        rows = zip(self.target.boxes, self.draft.boxes, node.least, node.most, strict=True)
        for mine, theirs, few, many in rows:
            inside = a * mine.low - d * theirs.high - g * theirs.extra
            outside = c * theirs.low - b * mine.high - f * mine.extra
            chosen.append(many if inside <= outside else few)
        plane = self._plane(chosen, t, s)
        value = plane.height + plane.x_slope * lam + plane.y_slope * mu
        return Choice(value, tuple(chosen), plane)

    def _plane(self, chosen: Sequence[int], t: Fraction, s: Fraction) -> Plane[Fraction]:
        """The bound for one set at fixed scales, as a function of lambda and mu: with ``t L`` and
        ``1 - E - t W`` of both sides."""
        left = [n - k for n, k in zip(self.counts, chosen, strict=True)]
        one = self.unit
        low, high, extra = _sums(self.target, chosen, left)
        tight, full = t * Fraction(low, one), Fraction(one - extra, one) - t * Fraction(high, one)
        low, high, extra = _sums(self.draft, left, chosen)
        drawn, kept = s * Fraction(low, one), Fraction(one - extra, one) - s * Fraction(high, one)
        return Plane(full + kept, tight - full, drawn - kept)

    def weight(self, item: int, scales: tuple[Interval, Interval]) -> Fraction:
        """What one token of an item can move, up to the unit."""
        mine, theirs = self.target.boxes[item], self.draft.boxes[item]
        target = mine.high * scales[0].most + mine.extra
        return max(target, theirs.high * scales[1].most + theirs.extra)


def lower_problem(pair: Pair) -> LowerProblem:
    """What the bounds of single tokens leave open of the choice of S."""
    first, second = pair.target_scale, pair.draft_scale
    one, (t_least, t_most, s_least, s_most) = whole_factors(
        first.least, first.most, second.least, second.most
    )
    inside: list[Scaled] = []
    outside: list[Scaled] = []
    left: list[Scaled] = []
    for item in pair.items:
        _, mine, theirs = item
        if t_most * mine.high + one * mine.extra <= s_least * theirs.low:
            inside.append(item)
        elif s_most * theirs.high + one * theirs.extra <= t_least * mine.low:
            outside.append(item)
        else:
            left.append(item)
    target = _settled(
        ((item.tokens, item.target) for item in inside),
        ((item.tokens, item.target) for item in outside),
    )
    draft = _settled(
        ((item.tokens, item.draft) for item in outside),
        ((item.tokens, item.draft) for item in inside),
    )
    return LowerProblem(
        pair.unit,
        tuple(item.tokens for item in left),
        Side(target, tuple(item.target for item in left), first),
        Side(draft, tuple(item.draft for item in left), second),
    )


def problem_of(
    settled: tuple[Box, Box], items: Sequence[Item], target_scale: Interval, draft_scale: Interval
) -> LowerProblem:
    """A problem of which only ``items`` are open. ``settled``: L, W and E of both sides."""
    pair = pair_of((Item(1, *settled), *items), target_scale, draft_scale)
    (_, target, draft), *left = pair.items
    return LowerProblem(
        pair.unit,
        tuple(item.tokens for item in left),
        Side(target, tuple(item.target for item in left), target_scale),
        Side(draft, tuple(item.draft for item in left), draft_scale),
    )


def _settled(counted: Iterable[tuple[int, Masses]], others: Iterable[tuple[int, Masses]]) -> Masses:
    """L of the tokens that a side counts, W and E of those that it does not."""
    low, high, extra = sum(n * masses.low for n, masses in counted), 0, 0
    for n, masses in others:
        high += n * masses.high
        extra += n * masses.extra
    return Masses(low, high, extra)


def _sums(side: Side, here: Sequence[int], elsewhere: Sequence[int]) -> Masses:
    """L, W and E where so many tokens of each item are counted, and so many are not."""
    low, high, extra = side.settled
    for box, inside, outside in zip(side.boxes, here, elsewhere, strict=True):
        low += inside * box.low
        high += outside * box.high
        extra += outside * box.extra
    return Masses(low, high, extra)
