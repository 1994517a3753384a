"""Which boxes stay when a step compares each weight with a limit: min-p and epsilon."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from math import inf
from typing import TypeVar

from specdist.errors import RowError
from specdist.processing.boxes import Box, Field, Verdict, verdict

Number = TypeVar("Number", int, float)


class _Largest:
    """What is known of the largest weight of a field, by keys (exactly) and by weights."""

    def __init__(self, field: Field) -> None:
        self.field = field
        group = field.group
        self.group_key = -inf if group is None else inf if group.key is None else group.key
        self._sure_key = max(
            (b.key_low for b in field.boxes if b.key_low is not None), default=-inf
        )
        self._keys = _first_two((b.key_high, b.token) for b in field.boxes)
        self._weights = _first_two((b.high, b.token) for b in field.boxes)
        self.least = max((box.low for box in field.boxes), default=0) * field.unit
        """The least that the largest weight can be."""

    def is_surely(self, box: Box) -> bool:
        """Whether no other token can have a larger weight."""
        if box.key_low is None:
            return False
        return box.key_low >= max(self.group_key, _beside(self._keys, box.token, -inf))

    def is_surely_not(self, box: Box) -> bool:
        """Whether another token has a larger weight for sure."""
        return self._sure_key > box.key_high

    @property
    def is_listed(self) -> bool:
        """Whether some box has a larger weight than every token of the group, for sure."""
        return self._sure_key > self.group_key

    def beside(self, box: Box) -> Fraction | None:
        """The most that another token can have; None where nothing bounds it."""
        cap = self.field.group_cap
        if cap is None:
            return None
        return max(cap, _beside(self._weights, box.token, 0) * self.field.unit)


def _first_two(pairs: Iterable[tuple[Number, int]]) -> list[tuple[Number, int]]:
    return sorted(pairs, reverse=True)[:2]


def _beside(tops: list[tuple[Number, int]], token: int, nothing: Number) -> Number:
    """The largest value that is not that of the token."""
    return next((value for value, owner in tops if owner != token), nothing)


def relative(field: Field, fraction: Fraction, strict: bool) -> Verdict:
    """``x stays iff w(x) >= fraction * max w`` (``strict``: >)."""
    if strict and fraction == 1:
        raise RowError("no token is above the largest: the row would be empty")
    largest = _Largest(field)
    kept: set[int] = set()
    undecided: set[int] = set()
    for box in field.boxes:
        stays = largest.is_surely(box)
        if fraction == 1:
            goes = largest.is_surely_not(box)
        else:
            beside = largest.beside(box)
            low, high = box.low * field.unit, box.high * field.unit
            stays = stays or (beside is not None and _over(low, fraction * beside, strict))
            goes = not _over(high, fraction * largest.least, strict)
        if stays or not goes:
            (kept if stays else undecided).add(box.token)
    staying = _staying(field, fraction * largest.least, strict)
    if fraction == 1 and largest.is_listed:
        staying = 0
    return verdict(field, kept, undecided, staying, by_total=staying != 0)


def share(field: Field, probability: Fraction) -> Verdict:
    """``x stays iff w(x) >= probability * sum w``, or no weight is larger."""
    largest = _Largest(field)
    kept: set[int] = set()
    undecided: set[int] = set()
    least = probability * field.total.least
    most = None if field.total.most is None else probability * field.total.most
    for box in field.boxes:
        stays = largest.is_surely(box)
        stays = stays or (most is not None and box.low * field.unit >= most)
        if stays or box.high * field.unit >= least or not largest.is_surely_not(box):
            (kept if stays else undecided).add(box.token)
    staying = _staying(field, least, strict=False)
    if field.group is not None and not largest.is_listed:
        staying = field.group.number
    return verdict(field, kept, undecided, staying)


def _over(weight: Fraction, limit: Fraction, strict: bool) -> bool:
    return weight > limit if strict else weight >= limit


def _staying(field: Field, limit: Fraction, strict: bool) -> int | None:
    """How many tokens of the group may reach a limit."""
    group, cap, mass = field.group, field.group_cap, field.group_mass
    if group is None or (cap is not None and not _over(cap, limit, strict)):
        return 0
    if not limit or mass is None:
        return group.number
    fitting = int(mass / limit)
    return fitting if group.number is None else min(fitting, group.number)
