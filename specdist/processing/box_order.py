"""Which boxes stay when a step goes down the order of the weights: top-k and temperature 0.

A token x stays iff what comes before it is little enough: fewer than k tokens (or, for top-p in
`box_prefix`, a mass below P).
What is before x for sure are the boxes that lie above all of its own, what may be before it those
that reach above its lower end, tokens that are not listed included. Equal weights come one before
the other by id, or neither does where ties stay together.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from fractions import Fraction
from itertools import accumulate
from math import inf
from typing import NamedTuple

from specdist.processing.boxes import Field, Verdict, verdict
from specdist.processing.logit import ZERO

Place = tuple[float, float]
"""A key and, for equal ones, what the id says."""
_NOWHERE: Place = (-inf, -inf)


class _Ranked(NamedTuple):
    """Places in rising order, and sums of weights from the end and from the start."""

    places: list[Place]
    above: list[int]
    below: list[int]

    @classmethod
    def of(cls, pairs: list[tuple[Place, int]]) -> _Ranked:
        pairs = sorted(pairs)
        weights = [weight for _, weight in pairs]
        falling = list(accumulate(reversed(weights), initial=0))
        return cls(
            [place for place, _ in pairs],
            falling[::-1],
            list(accumulate(weights, initial=0)),
        )


class Around(NamedTuple):
    """What surrounds a box: how many boxes are before it for sure, with their least weight; how
    many others may be, with their most weight; the least weight of those that are after it."""

    sure: int
    sure_low: int
    maybe: int
    maybe_high: int
    after_low: int


class Order:
    """The boxes of a field in the order of a step with these ``ties``."""

    def __init__(self, field: Field, ties: str) -> None:
        self.field = field
        self.ties = ties
        sign = {"all": 0.0, "highest-id": 1.0}.get(ties, -1.0)
        boxes = field.boxes
        self.lower: list[Place] = [
            _NOWHERE if b.key_low is None else (b.key_low, sign * b.token) for b in boxes
        ]
        self.upper: list[Place] = [(b.key_high, sign * b.token) for b in boxes]
        sure = [at for at, box in enumerate(boxes) if box.key_low is not None]
        self._lows = _Ranked.of([(self.lower[at], boxes[at].low) for at in sure])
        self.best_of_group = self._best_of_group(sign)
        self.around = self._sharp() if self.lower == self.upper else self._blurred()

    def _best_of_group(self, sign: float) -> Place:
        """The first place that a token of the group may have; none without a group."""
        group = self.field.group
        if group is None:
            return _NOWHERE
        key = inf if group.key is None else group.key
        if sign > 0:
            return (key, inf if group.last is None else float(group.last))
        return (key, sign * group.first)

    def _sharp(self) -> list[Around]:
        """Of boxes with one place each: a walk down the places, ties together."""
        boxes, places = self.field.boxes, self.lower
        found = [Around(0, 0, 0, 0, 0)] * len(boxes)
        falling = sorted(range(len(boxes)), key=places.__getitem__, reverse=True)
        left = sum([box.low for box in boxes])
        low = high = start = 0
        while start < len(falling):
            place = places[falling[start]]
            end, inside, above = start, 0, 0
            while end < len(falling) and places[falling[end]] == place:
                box = boxes[falling[end]]
                end, inside, above = end + 1, inside + box.low, above + box.high
            left -= inside
            for at in falling[start:end]:
                found[at] = Around(start, low, start, high, left)
            start, low, high = end, low + inside, high + above
        return found

    def _blurred(self) -> list[Around]:
        boxes = self.field.boxes
        highs = _Ranked.of([(self.upper[at], box.high) for at, box in enumerate(boxes)])
        ends = _Ranked.of([(self.upper[at], box.low) for at, box in enumerate(boxes)])
        found = []
        for at, box in enumerate(boxes):
            start = bisect_right(highs.places, self.lower[at])
            own = self.upper[at] > self.lower[at]
            maybe = len(highs.places) - start - own
            high = highs.above[start] - (box.high if own else 0)
            after = ends.below[bisect_left(ends.places, self.lower[at])]
            found.append(Around(*self.surely_before(self.upper[at]), maybe, high, after))
        return found

    def surely_before(self, place: Place) -> tuple[int, int]:
        """How many boxes lie above a place as a whole, and their least weight."""
        start = bisect_right(self._lows.places, place)
        return len(self._lows.places) - start, self._lows.above[start]

    def group_before(self, at: int) -> bool:
        """Whether a token of the group may be before a box."""
        return self.best_of_group > self.lower[at]


def top(field: Field, count: int, ties: str) -> Verdict:
    """``x stays iff fewer than `count` tokens are before x``; ``ties``: "all" or "lowest-id"."""
    order = Order(field, ties)
    kept: set[int] = set()
    undecided: set[int] = set()
    for at, box in enumerate(field.boxes):
        around = order.around[at]
        if around.sure >= count:
            continue
        before = around.maybe
        if order.group_before(at):
            unlisted = _fitting(field, box.low * field.unit)
            before = count if unlisted is None else before + unlisted
        (kept if before < count else undecided).add(box.token)
    staying = _group_in_top(order, count)
    return verdict(field, kept, undecided, staying, by_total=staying != 0)


def _fitting(field: Field, weight: Fraction) -> int | None:
    """How many tokens of the group may have at least this weight."""
    group, mass = field.group, field.group_mass
    if group is None:
        return 0
    if not weight or mass is None:
        return group.number
    fitting = int(mass / weight)
    return fitting if group.number is None else min(fitting, group.number)


def _group_in_top(order: Order, count: int) -> int | None:
    field = order.field
    if field.group is None:
        return 0
    above = order.surely_before(order.best_of_group)[0]
    if above >= count:
        return 0
    lows = sorted((box.low for box in field.boxes), reverse=True)
    last = lows[count - 1] * field.unit if count <= len(lows) else ZERO
    staying = _fitting(field, last)
    if order.ties == "all":
        return staying
    return count - above if staying is None else min(staying, count - above)
