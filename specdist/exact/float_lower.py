"""The least overlap of large groups of tokens: a proven bound, and the least itself where few
tokens decide.

Cutting planes in (lambda, mu) give a bound B, and sets with a value V of at least the least one. A
token whose other place would cost more than V - B is where it belongs; if few tokens are left, the
search of `set_search` settles them. Otherwise ranges of scales are halved as long as that helps.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import count
from typing import NamedTuple

import numpy as np

from specdist.exact.concave_height import Plane, highest
from specdist.exact.float_relaxation import Relaxation, Relaxed, Weights
from specdist.exact.interval import Interval
from specdist.exact.partial_masses import least_mass
from specdist.exact.set_search import least, telling_ends

FEW = 64
"""So many open tokens are settled one by one."""

_ROUNDS = 20
_ELEMENTS, _FEWEST, _MOST = 3_000_000, 40, 400
_SLACK = Fraction(1, 2**40)
_ZERO, _ONE = Fraction(0), Fraction(1)
Range = tuple[Interval, Interval]


class _Part(NamedTuple):
    """A range of scales with its bound, and the weights (lambda, mu) and sets that gave it.
    ``room``: by how much other weights might raise the bound."""

    bound: Fraction
    room: float
    weights: tuple[Fraction, Fraction]
    found: tuple[Relaxed, ...]


class _RoughSide(NamedTuple):
    """`least_mass` in floats, with L, W and E as functions of a number of tokens."""

    low: float
    high: float
    extra: float
    one_low: float
    one_high: float
    one_extra: float
    first: float
    last: float

    def least_mass(self, counted: int, others: int) -> float:
        low = self.low + counted * self.one_low
        high = self.high + others * self.one_high
        free = 1 - self.extra - others * self.one_extra
        crossing = free * low / (low + high) if low > 0 and free > 0 else 0.0
        return max(self.first * low, free - self.last * high, crossing)


class FloatLower:
    """The search. ``enough``: nothing is gained by a bound that is closer to the least value."""

    def __init__(self, relaxation: Relaxation, scales: Range, enough: Fraction) -> None:
        self.relaxation, self.scales, self.enough = relaxation, scales, enough
        self.best = _ONE
        self.calls = min(max(_ELEMENTS // (relaxation.size + 1), _FEWEST), _MOST)

    def least(self) -> Fraction:
        """A proven lower bound of the overlap."""
        whole = self._bound(self.scales, (_ONE, _ONE))
        if whole.bound >= self.best - self.enough:
            return whole.bound
        few = self._few_left(whole)
        if few is not None:
            return max(few, whole.bound)
        ticket = count()
        heap = [(whole.bound, next(ticket), self.scales, whole)]
        while self.calls > 0 and heap[0][0] < self.best - self.enough:
            bound, _, ranges, part = heap[0]
            halves = list(_halves(ranges))
            if not halves or 2 * part.room > self.best - bound:
                break
            heapq.heappop(heap)
            for half in halves:
                found = self._bound(half, part.weights)
                heapq.heappush(heap, (max(bound, found.bound), next(ticket), half, found))
        return heap[0][0]

    def _bound(self, ranges: Range, weights: tuple[Fraction, Fraction]) -> _Part:
        """Cutting planes over one range of scales."""
        planes: list[Plane[float]] = []
        best = _Part(Fraction(-1), 2.0, weights, ())
        for _ in range(_ROUNDS):
            found = self._corners(ranges, *weights)
            value = min(one.value for one in found)
            if value > best.bound:
                best = _Part(value, 0.0, weights, found)
            planes += [Plane(*(float(x) for x in one.plane)) for one in found]
            summit = highest(planes)
            best = best._replace(room=summit.height - float(best.bound))
            if min(summit.height, float(self.best)) - float(best.bound) <= float(self.enough) / 2:
                break
            weights = _weight(summit.x), _weight(summit.y)
        return best

    def _corners(self, ranges: Range, lam: Fraction, mu: Fraction) -> tuple[Relaxed, ...]:
        found = []
        for t in telling_ends(ranges[0], lam):
            for s in telling_ends(ranges[1], mu):
                one = self.relaxation.at(Weights(t, s, lam, mu))
                self.calls -= 1
                self._offer(one)
                found.append(one)
        return tuple(found)

    def _offer(self, one: Relaxed) -> None:
        """The value of the set of a relaxation, at a good number of tokens of each item."""
        chosen = list(one.chosen)
        for i, item in enumerate(self.relaxation.items):
            if item.tokens > 1:
                chosen[i] = self._good_number(one, chosen, i)
        self.best = min(self.best, self._value(one, chosen))

    def _good_number(self, one: Relaxed, chosen: list[int], i: int) -> int:
        """The number of tokens of one item that makes the value least, worked out in floats."""
        tokens, *sides = self.relaxation.items[i]
        without = self.relaxation.with_items(one.target, one.draft, chosen, but=i)
        target, draft = (
            _RoughSide(*(float(x) for x in (*sums, *item, scale.least, scale.most)))
            for sums, item, scale in zip(without, sides, self.scales, strict=True)
        )
        few, many = 0, tokens
        while few < many:  # the value is convex in the number
            k = (few + many) // 2
            here = target.least_mass(k, tokens - k) + draft.least_mass(tokens - k, k)
            following = target.least_mass(k + 1, tokens - k - 1)
            if here <= following + draft.least_mass(tokens - k - 1, k + 1):
                many = k
            else:
                few = k + 1
        return few

    def _value(self, one: Relaxed, chosen: Sequence[int]) -> Fraction:
        """At least ``min p(S) + min q(outside S)``: the sums are off by less than 2^-40 of them."""
        boxes = self.relaxation.with_items(one.target, one.draft, chosen)
        return sum(
            (
                least_mass(scale, box.low * (1 + _SLACK), box.high * (1 - _SLACK), box.extra)
                for scale, box in zip(self.scales, boxes, strict=True)
            ),
            _ZERO,
        )

    def _few_left(self, part: _Part) -> Fraction | None:
        """The least value, by the search over the tokens that are still open, if they are few.

        A set with a token in another place than a relaxation puts it costs at least its bound and
        the difference; above `best` it is none of the least.
        """
        open_masks = [np.zeros(len(group), np.bool_) for group in self.relaxation.groups]
        inside = part.found[0].inside
        for one in part.found:
            if one.value <= self.best:
                near = self.relaxation.indifferent(one.weights, self.best - one.value)
                for mask, some, here, there in zip(
                    open_masks, near, one.inside, inside, strict=True
                ):
                    mask |= some | (here != there)
        if sum(int(np.count_nonzero(mask)) for mask in open_masks) > FEW:
            return None
        left = self.relaxation.narrowed(inside, open_masks)
        return least(left.problem(self.scales), self.enough)


def _halves(ranges: Range) -> Iterator[Range]:
    """The wider of two ranges of scales in two; nothing where both are points."""
    first, second = ranges
    by_target = first.width * second.most >= second.width * first.most
    wide = first if by_target else second
    if wide.closed:
        return
    middle = Fraction(float((wide.least + wide.most) / 2))
    if not wide.least < middle < wide.most:
        return
    for part in (Interval(wide.least, middle), Interval(middle, wide.most)):
        yield (part, second) if by_target else (first, part)


def _weight(value: float) -> Fraction:
    return Fraction(max(0.0, min(1.0, value)))
