"""The tokens of two partial laws side by side, with what each law allows them to hold.

Listed on both sides (A), by the target only (B), by the draft only (C), by neither (D). Tokens of
equal bounds are one item with a count. Where both laws have as many tokens in all they share one
vocabulary and D is what remains of it; so is what a complete law leaves of the other's vocabulary.
Otherwise any number of tokens may be unlisted on both sides: the least overlap keeps the two rests
apart, the largest lets them coincide.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from math import lcm
from typing import NamedTuple

from specdist.exact.interval import Interval
from specdist.exact.partial_law import PartialLaw
from specdist.exact.partial_masses import Box, Totals


class Item(NamedTuple):
    """``tokens`` tokens, each with these bounds under target and draft."""

    tokens: int
    target: Box
    draft: Box


class Masses(NamedTuple):
    """A `Box` in whole multiples of a unit."""

    low: int
    high: int
    extra: int


class Scaled(NamedTuple):
    """An `Item` in whole multiples of a unit."""

    tokens: int
    target: Masses
    draft: Masses


class Pair(NamedTuple):
    """Two laws, independent of each other: items in multiples of ``1 / unit``, and the scales that
    some distribution of each law has."""

    unit: int
    items: tuple[Scaled, ...]
    target_scale: Interval
    draft_scale: Interval


def pair_of(items: Sequence[Item], target_scale: Interval, draft_scale: Interval) -> Pair:
    """The items over their common denominator."""
    unit = lcm(*{x.denominator for _, *sides in items for box in sides for x in box})

    def scaled(box: Box) -> Masses:
        return Masses(*(x.numerator * (unit // x.denominator) for x in box))

    whole = tuple(Scaled(count, scaled(mine), scaled(theirs)) for count, mine, theirs in items)
    return Pair(unit, whole, target_scale, draft_scale)


def whole_factors(*factors: Fraction) -> tuple[int, list[int]]:
    """A common denominator, and the factors as multiples of its inverse."""
    scale = lcm(*(factor.denominator for factor in factors))
    return scale, [factor.numerator * (scale // factor.denominator) for factor in factors]


class Unlisted(NamedTuple):
    """What is listed by neither, where the overlap is least and where it is largest."""

    apart: tuple[Item, ...]
    together: tuple[Item, ...]


def listed_items(
    target: Mapping[int, Box], draft: Mapping[int, Box], sides: tuple[Totals, Totals]
) -> tuple[Item, ...]:
    """The tokens that are listed by at least one law, as items."""
    elsewhere_target, elsewhere_draft = sides[0].unlisted, sides[1].unlisted
    pairs = [(box, draft.get(token, elsewhere_draft)) for token, box in target.items()]
    pairs += [(elsewhere_target, box) for token, box in draft.items() if token not in target]
    return merged(Item(1, *pair) for pair in pairs)


def merged(items: Iterable[Item]) -> tuple[Item, ...]:
    """Items of equal bounds made one."""
    counts: Counter[tuple[Box, Box]] = Counter()
    for count, target, draft in items:
        counts[target, draft] += count
    return tuple(Item(count, *boxes) for boxes, count in counts.items())


def boxes(law: PartialLaw) -> dict[int, Box]:
    """The box of each listed token, as fractions."""
    values = (low.tolist() if not isinstance(low, tuple) else low for low in (law.low, law.high))
    rows = zip(*values, strict=True)
    return {
        int(token): Box(Fraction(low), Fraction(high))
        for token, (low, high) in zip(law.ids, rows, strict=True)
    }


def unlisted_items(
    laws: tuple[PartialLaw, PartialLaw],
    sides: tuple[Totals, Totals],
    target_only: int,
    draft_only: int,
) -> Unlisted:
    """The tokens of D. ``target_only`` and ``draft_only`` are the sizes of B and C."""
    target, draft = sides
    left = (_left(laws[0], laws[1], draft_only), _left(laws[1], laws[0], target_only))
    if not target.unlisted or not draft.unlisted:
        kept = []
        if target.unlisted:
            kept.append(_whole(target, left[0]))
        if draft.unlisted:
            kept.append(_swapped(_whole(draft, left[1])))
        return Unlisted(tuple(kept), ())
    if left[0] is not None and left[0] == left[1]:
        shared = (Item(left[0], target.unlisted, draft.unlisted),) if left[0] else ()
        return Unlisted(shared, shared)
    apart = (Item(1, target.rest, Box()), Item(1, Box(), draft.rest))
    counts = [law.others for law in laws if law.others is not None]
    if counts:
        return Unlisted(apart, (Item(min(counts), target.unlisted, draft.unlisted),))
    return Unlisted(apart, (Item(1, target.rest, draft.rest),))


def _left(law: PartialLaw, other: PartialLaw, other_only: int) -> int | None:
    """How many of the unlisted tokens the other side does not list either. None where unknown: it
    also lists tokens that cannot belong to this vocabulary, whose ids count from 0."""
    if law.others is None or law.others < other_only:
        return None
    if len(other.ids) and int(other.ids[-1]) >= len(law.ids) + law.others:
        return None
    return law.others - other_only


def _whole(side: Totals, left: int | None) -> Item:
    """The unlisted tokens of one side, impossible on the other, as one token."""
    if left is None:
        return Item(1, side.rest, Box())
    if side.unlisted.extra and left:
        return Item(1, Box(extra=side.unlisted.extra), Box())
    return Item(1, Box(high=side.unlisted.high * left), Box())


def _swapped(item: Item) -> Item:
    return Item(item.tokens, item.draft, item.target)
