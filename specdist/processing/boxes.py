"""The tokens of a row that is known in part, as boxes: each weight lies between two numbers.

A `Field` holds the tokens that a step may keep, in the units of one row. A *key* orders tokens: a
larger key is a larger weight, equal keys are equal weights, exactly; where rounding blurs the order
a token has two keys, as it has two weights. The tokens that are not listed are one `Group`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import NamedTuple

from specdist.processing.logit import ZERO
from specdist.processing.spans import Span, product, smaller

Key = float


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


@dataclass(frozen=True, eq=False)
class Field:
    """Boxes with weights in whole multiples of ``unit``; everything else in plain units of weight.

    ``sums`` gives the sum of all weights and that of the group; what does not need them does not
    ask. There are at most ``tokens`` tokens (None: any number). Those that a step drops for sure
    may be left out of ``boxes``; ``left_out`` is what they have at least.
    """

    boxes: list[Box]
    group: Group | None
    sums: Callable[[], tuple[Span, Span]]
    unit: Fraction
    tokens: int | None
    left_out: Fraction = ZERO

    @cached_property
    def total(self) -> Span:
        return self.sums()[0]

    @cached_property
    def rest(self) -> Span:
        return self.sums()[1]

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


def tokens_of(boxes: int, group: Group | None) -> int | None:
    """How many tokens are possible at most; None: any number."""
    if group is None:
        return boxes
    return None if group.number is None else boxes + group.number


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
    bounds: Span | None = None,
    by_total: bool = True,
) -> Verdict:
    """The verdict with the sum that follows from the boxes, within ``bounds``; by default at least
    the largest weight stays. ``by_total``: what stays is also at most what there was, less what
    goes."""
    low_kept = high_left = low_dropped = 0
    for box in field.boxes:
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
    if by_total and field.total.most is not None:
        gone = low_dropped * field.unit + field.left_out
        if group_count == 0:
            gone += field.rest.least
        most = smaller(most, field.total.most - gone)
    bounds = Span(_largest(field), None) if bounds is None else bounds
    total = bounds.within(low_kept * field.unit, most)
    return Verdict(frozenset(kept), frozenset(undecided), group_count, total)


def _largest(field: Field) -> Fraction:
    """The least that the largest weight can be."""
    largest = max((box.low for box in field.boxes), default=0)
    if largest or not field.tokens:
        return largest * field.unit
    return field.total.least / field.tokens
