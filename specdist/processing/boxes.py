"""The tokens of a row that is known in part, as boxes: each weight lies between two numbers.

A `Field` holds the tokens that a step may keep, in the units of one row. A *key* orders tokens: a
larger key is a larger weight, equal keys are equal weights, exactly; where rounding blurs the order
a token has two keys, as it has two weights. The tokens that are not listed are one `Group`.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

from specdist.processing.logit import ZERO
from specdist.processing.spans import Span, product, smaller

Key = float


FREE = Span(ZERO, None)


class Box(NamedTuple):
    """A token with ``low <= weight <= high``. ``key_low`` None: it may be impossible (low is 0)."""

    token: int
    key_low: Key | None
    key_high: Key
    low: int
    high: int


class Group(NamedTuple):
    """Tokens that are not listed: at most ``number`` (None: any number), each of a weight up to
    ``cap`` with the key ``key`` (None: unbounded), with ids from ``first`` to ``last``."""

    number: int | None
    key: Key | None
    cap: Fraction | None
    first: int
    last: int | None


@dataclass(frozen=True, slots=True)
class Field:
    """Boxes with weights in whole multiples of ``unit``; everything else in plain units of weight.

    ``total`` is the sum of all weights, ``rest`` that of the group (None: no token but those in
    boxes is possible). Tokens that a step drops for sure may be left out of ``boxes``; ``left_out``
    is what they have at least. ``exact`` says that all keys are exact.
    """

    boxes: list[Box]
    group: Group | None
    total: Span
    rest: Span
    unit: Fraction
    left_out: Fraction = ZERO

    def low(self, box: Box) -> Fraction:
        return box.low * self.unit

    def high(self, box: Box) -> Fraction:
        return box.high * self.unit

    @property
    def group_mass(self) -> Fraction | None:
        """The most that the group can have; None where nothing bounds it."""
        if self.group is None:
            return ZERO
        return smaller(self.rest.most, product(self.group.number, self.group.cap))

    @property
    def group_cap(self) -> Fraction | None:
        """The most that one token of the group can have."""
        return ZERO if self.group is None else smaller(self.group.cap, self.group_mass)


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a step does: tokens that stay for sure and tokens that may stay; how many tokens of the
    group may stay (0: none, None: any number), and the sum of the weights that stay."""

    kept: frozenset[int]
    open: frozenset[int]
    group_count: int | None
    total: Span


def verdict(
    field: Field,
    kept: Collection[int],
    undecided: Collection[int],
    group_count: int | None,
    bounds: Span = FREE,
) -> Verdict:
    """The verdict with the sum that follows from the boxes, within ``bounds``; the largest weight
    stays whatever the step is."""
    low_kept = high_left = low_dropped = largest = 0
    for box in field.boxes:
        largest = max(largest, box.low)
        if box.token in kept:
            low_kept += box.low
            high_left += box.high
        elif box.token in undecided:
            high_left += box.high
        else:
            low_dropped += box.low
    stays: Fraction | None = ZERO
    if field.group is not None and group_count != 0:
        stays = smaller(field.group_mass, product(group_count, field.group.cap))
    most = None if stays is None else high_left * field.unit + stays
    if field.total.most is not None:
        gone = low_dropped * field.unit + field.left_out
        if group_count == 0:
            gone += field.rest.least
        most = smaller(most, field.total.most - gone)
    total = bounds.within(max(low_kept, largest) * field.unit, most)
    return Verdict(frozenset(kept), frozenset(undecided), group_count, total)
