"""Which boxes stay in the shortest prefix of a mass: top-p.

A token x stays iff the mass before x is below ``P M``, M the sum of all weights. With the most that
may be before x, B, and the least that comes with x and after it, A, that holds for sure where ``B <
P max(M_least, B + A)``; it fails for sure where the least that is before x reaches ``P M_most``.
All of it is decided in whole multiples of the field's unit.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import ceil, floor

from specdist.processing.box_order import Order
from specdist.processing.boxes import Field, Verdict, verdict
from specdist.processing.spans import Span


@dataclass(frozen=True, slots=True)
class _Threshold:
    """``least`` and ``most``: the ends of ``P M`` in units (most None: no end). ``exceed``: the
    mass before may be equal to it."""

    mass: Fraction
    exceed: bool
    least: Fraction
    most: Fraction | None

    @classmethod
    def of(cls, field: Field, mass: Fraction, exceed: bool) -> _Threshold:
        scale = mass / field.unit
        most = None if field.total.most is None else scale * field.total.most
        return cls(mass, exceed, scale * field.total.least, most)

    @property
    def reached_from(self) -> int | None:
        """The smallest whole mass that reaches the threshold for sure; None: none does."""
        if self.most is None:
            return None
        return floor(self.most) + 1 if self.exceed else ceil(self.most)

    @property
    def below_to(self) -> int:
        """The largest whole mass that is below the threshold for sure."""
        return floor(self.least) if self.exceed else ceil(self.least) - 1

    def is_above(self, before: int, rest: int) -> bool:
        """Whether ``before`` is below ``P (before + rest)``."""
        top, bottom = self.mass.numerator, self.mass.denominator
        left, right = before * (bottom - top), rest * top
        return left <= right if self.exceed else left < right


def prefix(field: Field, mass: Fraction, boundary: str, ties: str) -> Verdict:
    """``x stays iff the mass before x is below `mass``` (boundary "exceed": at most `mass`) of the
    whole. With boundary "partial" the last token may stay in part: only its upper end holds."""
    order = Order(field, ties)
    threshold = _Threshold.of(field, mass, boundary == "exceed")
    reached, below = threshold.reached_from, threshold.below_to
    mass_of_group = field.group_mass
    group_most = None if mass_of_group is None else ceil(mass_of_group / field.unit)
    group_least = floor(field.rest.least / field.unit)
    kept: set[int] = set()
    whole: set[int] = set()
    undecided: set[int] = set()
    for at, box in enumerate(field.boxes):
        around = order.around[at]
        if reached is not None and around.sure_low >= reached:
            continue
        before: int | None = around.maybe_high
        rest = box.low + around.after_low
        if order.group_before(at):
            before = None if group_most is None else around.maybe_high + group_most
        else:
            rest += group_least
        if before is None or not (before <= below or threshold.is_above(before, rest)):
            undecided.add(box.token)
            continue
        kept.add(box.token)
        if boundary == "partial" and _is_whole(order, at, before, threshold):
            whole.add(box.token)
    bounds = _prefix_mass(field, threshold, boundary, ties, kept)
    if boundary == "partial":
        kept, undecided = whole, undecided | (kept - whole)
    return verdict(field, kept, undecided, _staying(order, reached), bounds)


def _staying(order: Order, reached: int | None) -> int | None:
    """How many tokens of the group may stay."""
    group = order.field.group
    if group is None:
        return 0
    if reached is not None and order.surely_before(order.best_of_group)[1] >= reached:
        return 0
    return group.number


def _is_whole(order: Order, at: int, before: int, threshold: _Threshold) -> bool:
    """Whether the mass with a box, and its ties where these stay together, is at most ``P M``."""
    boxes = order.field.boxes
    level = boxes[at].high
    if order.ties == "all":
        place, end = order.lower[at], order.upper[at]
        level = sum(
            box.high
            for other, box in enumerate(boxes)
            if order.upper[other] >= place and order.lower[other] <= end
        )
        if order.field.group is not None and order.best_of_group >= place:
            return False
    return before + level <= threshold.least


def _prefix_mass(
    field: Field, threshold: _Threshold, boundary: str, ties: str, kept: set[int]
) -> Span:
    """What stays has at least ``P M``; without its last token, which is no larger than any that
    stays, it has at most that."""
    least, most = threshold.least * field.unit, threshold.most
    if most is None or (ties == "all" and boundary != "partial"):
        return Span(least, None)
    if boundary == "partial":
        return Span(least, most * field.unit)
    lasts = [box.high for box in field.boxes if box.token in kept]
    return Span(least, (most + min(lasts)) * field.unit if lasts else None)
