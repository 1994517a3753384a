"""Which boxes stay when a step goes down the order of the weights: top-k, top-p, temperature 0.

A token x stays iff what comes before it is little enough: fewer than k tokens, or a mass below P.
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

from specdist.processing.boxes import Box, Field, Verdict, verdict
from specdist.processing.logit import ZERO
from specdist.processing.spans import Span

Place = tuple[float, float]
"""A key and, for equal ones, what the id says."""


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


class _Order:
    """The boxes of a field in the order of a step with these ``ties``."""

    def __init__(self, field: Field, ties: str) -> None:
        self.field = field
        self.ties = ties
        sure = [b for b in field.boxes if b.key_low is not None]
        self._lows = _Ranked.of([(self.lower(b), b.low) for b in sure])
        self._highs = _Ranked.of([(self.upper(b), b.high) for b in field.boxes])
        self._ends = _Ranked.of([(self.upper(b), b.low) for b in field.boxes])

    def lower(self, box: Box) -> Place:
        return (-inf, 0.0) if box.key_low is None else (box.key_low, self._tie(box.token))

    def upper(self, box: Box) -> Place:
        return (box.key_high, self._tie(box.token))

    def _tie(self, token: float) -> float:
        return {"all": 0.0, "highest-id": token}.get(self.ties, -token)

    @property
    def best_of_group(self) -> Place:
        """The first place that a token of the group may have; minus infinity without a group."""
        group = self.field.group
        if group is None:
            return (-inf, 0.0)
        last = inf if group.last is None else group.last
        id_part = self._tie(last if self.ties == "highest-id" else group.first)
        return (inf if group.key is None else group.key, id_part)

    def surely_before(self, place: Place) -> tuple[int, int]:
        """How many boxes lie above a place as a whole, and their least weight."""
        start = bisect_right(self._lows.places, place)
        return len(self._lows.places) - start, self._lows.above[start]

    def maybe_before(self, box: Box) -> tuple[int, int]:
        """How many other boxes reach above the lower end of this one, and their most weight."""
        lower = self.lower(box)
        start = bisect_right(self._highs.places, lower)
        own = self.upper(box) > lower
        count = len(self._highs.places) - start - own
        return count, self._highs.above[start] - (box.high if own else 0)

    def surely_after(self, box: Box) -> int:
        """The least weight of the boxes that lie below the lower end of this one as a whole."""
        return self._ends.below[bisect_left(self._ends.places, self.lower(box))]

    def group_before(self, box: Box) -> bool:
        return self.field.group is not None and self.best_of_group > self.lower(box)


def top(field: Field, count: int, ties: str) -> Verdict:
    """``x stays iff fewer than `count` tokens are before x``; ``ties``: "all" or "lowest-id"."""
    order = _Order(field, ties)
    kept: set[int] = set()
    undecided: set[int] = set()
    for box in field.boxes:
        if order.surely_before(order.upper(box))[0] >= count:
            continue
        before = order.maybe_before(box)[0]
        if order.group_before(box):
            unlisted = _fitting(field, box.low * field.unit)
            before = count if unlisted is None else before + unlisted
        (kept if before < count else undecided).add(box.token)
    return verdict(field, kept, undecided, _group_in_top(order, count))


def _fitting(field: Field, weight: Fraction) -> int | None:
    """How many tokens of the group may have at least this weight."""
    group, mass = field.group, field.group_mass
    if group is None:
        return 0
    if not weight or mass is None:
        return group.number
    fitting = int(mass / weight)
    return fitting if group.number is None else min(fitting, group.number)


def _group_in_top(order: _Order, count: int) -> int | None:
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


def prefix(field: Field, mass: Fraction, boundary: str, ties: str) -> Verdict:
    """``x stays iff the mass before x is below `mass``` (boundary "exceed": at most `mass`) of the
    whole. With boundary "partial" the last token may stay in part: only its upper end holds."""
    order = _Order(field, ties)
    kept: set[int] = set()
    undecided: set[int] = set()
    for box in field.boxes:
        least = order.surely_before(order.upper(box))[1] * field.unit
        if _reaches_surely(least, field.total.most, mass, boundary):
            continue
        after = box.low + order.surely_after(box)
        if _stays(order, box, after, mass, boundary):
            kept.add(box.token)
        else:
            undecided.add(box.token)
    group = field.group
    staying = 0 if group is None else group.number
    if group is not None:
        least = order.surely_before(order.best_of_group)[1] * field.unit
        if _reaches_surely(least, field.total.most, mass, boundary):
            staying = 0
    bounds = _prefix_mass(field, mass, boundary, ties, kept)
    if boundary == "partial":
        whole = {b.token for b in field.boxes if b.token in kept and _whole(order, b, mass)}
        undecided |= kept - whole
        kept = whole
    return verdict(field, kept, undecided, staying, bounds)


def _reaches_surely(
    before: Fraction, total: Fraction | None, mass: Fraction, boundary: str
) -> bool:
    if total is None:
        return False
    return before > mass * total if boundary == "exceed" else before >= mass * total


def _mass_before(order: _Order, box: Box) -> Fraction | None:
    """The most that may be before a box; None where nothing bounds it."""
    field = order.field
    before = order.maybe_before(box)[1] * field.unit
    if not order.group_before(box):
        return before
    group = field.group_mass
    return None if group is None else before + group


def _stays(order: _Order, box: Box, after: int, mass: Fraction, boundary: str) -> bool:
    """Whether the mass before stays below the threshold: ``before / total``, the total at least
    its own least, and at least what is before plus what is after."""
    field = order.field
    before = _mass_before(order, box)
    if before is None:
        return False
    if not before:
        return True
    rest = after * field.unit
    if not order.group_before(box):
        rest += field.rest.least
    wanted = mass * max(field.total.least, before + rest)
    return before <= wanted if boundary == "exceed" else before < wanted


def _whole(order: _Order, box: Box, mass: Fraction) -> bool:
    """Whether the mass with a box, and its ties where these stay together, is at most ``mass``."""
    field = order.field
    before = _mass_before(order, box)
    if before is None:
        return False
    level = box.high
    if order.ties == "all":
        place, end = order.lower(box), order.upper(box)
        level = sum(
            b.high for b in field.boxes if order.upper(b) >= place and order.lower(b) <= end
        )
        if field.group is not None and order.best_of_group >= place:
            return False
    return before + level * field.unit <= mass * field.total.least


def _prefix_mass(field: Field, mass: Fraction, boundary: str, ties: str, kept: set[int]) -> Span:
    """What stays has at least ``mass`` of the whole; without its last token, which is no larger
    than any that stays, it has at most that."""
    least = mass * field.total.least
    lasts = [box.high for box in field.boxes if box.token in kept]
    if field.total.most is None or (ties == "all" and boundary != "partial"):
        return Span(least, None)
    most = mass * field.total.most
    if boundary == "partial":
        return Span(least, most)
    return Span(least, most + min(lasts) * field.unit if lasts else None)
