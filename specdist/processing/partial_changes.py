"""The steps that change or drop named tokens of a row that is known in part, and temperature."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING

from specdist.errors import RowError
from specdist.processing.listing import Listing, upper
from specdist.processing.logit import ONE, ZERO
from specdist.processing.spans import Span, most_of, product

if TYPE_CHECKING:
    from specdist.processing.partial_working_row import PartialRow


def add(row: PartialRow, changes: Mapping[int, Fraction]) -> PartialRow:
    """See `WorkingRow.add`. An unlisted token becomes a listed one that may be impossible; the sum
    moves by ``w(x) (exp(change) - 1)``, which is monotone in w."""
    row = _named(row, changes.keys())
    touched = [x for x in changes if row.listing.holds(x)]
    both = {x: changes[x] for x in touched} | {upper(x): changes[x] for x in touched}
    after = row.listing.changed(row.listing.carrier.add(both))
    if after.lost:
        return _anchored(row, after)
    total = row.total
    for x in touched:
        (low, high), (new_low, new_high) = row.listing.box(x), after.box(x)
        ends = _difference(new_low, low), _difference(new_high, high)
        total = _moved(total, min(e[0] for e in ends), max(e[1] for e in ends))
    return replace(row.with_total(total), listing=after)


def penalise(row: PartialRow, tokens: Collection[int], factor: Fraction) -> PartialRow:
    """See `WorkingRow.penalise`; the sizes of logits that come from a rounded sum are known up to
    that rounding, and so is what the penalty makes of them."""
    row = _named(row, tokens)
    touched = sorted({x for x in tokens if row.listing.holds(x)})
    listing = row.listing
    if row.lift:
        listing = listing.doubled(x for x in touched if listing.is_sharp(x))
    entries = [*touched, *map(upper, touched)]
    carrier = listing.carrier.penalise(entries, factor)
    if row.lift:
        amount = (max(factor, 1 / factor) - 1) * row.lift  # also where it moves a sign
        carrier = carrier.add(dict.fromkeys(touched, -amount))
        carrier = carrier.add(dict.fromkeys(map(upper, touched), amount))
    after = listing.changed(carrier)
    if after.lost:
        return _anchored(row, after)
    total = row.total
    for x in touched:
        (low, high), (new_low, new_high) = row.listing.box(x), after.box(x)
        if row.listing.is_sharp(x) and after.is_sharp(x):
            least, most = _difference(new_low, low)
        else:
            least, most = new_low.least - most_of(high), most_of(new_high) - low.least
        total = _moved(total, least, most)
    return replace(row.with_total(total), listing=after)


def _anchored(row: PartialRow, after: Listing) -> PartialRow:
    """The row after values that leave the sum so far, and what it told of the unlisted tokens, far
    below the largest: the boxes alone bound the sum."""
    free = row.with_total(Span(ZERO, None))
    return replace(free, listing=after.anchored())


def _named(row: PartialRow, tokens: Collection[int]) -> PartialRow:
    """The row with these unlisted tokens listed, as far as their values are bounded at all."""
    found = row.unlisted.among(tokens)
    if not found or row.listing.cap is None:
        return row
    listing = row.listing.with_upper(found)
    return replace(row, listing=listing, unlisted=row.unlisted.without(found))


def _difference(new: Span, old: Span) -> tuple[Fraction, Fraction]:
    return new.least - most_of(old), most_of(new) - old.least


def _moved(total: Span, least: Fraction, most: Fraction) -> Span:
    end = None if total.most is None else max(total.most + most, ZERO)
    return Span(max(total.least + least, ZERO), end)


def keep(row: PartialRow, tokens: Collection[int]) -> PartialRow:
    """See `WorkingRow.keep`: of the unlisted tokens only those that are named stay possible."""
    wanted = set(tokens)
    rest = row.rest
    named = row.unlisted.among(wanted)
    left = row.unlisted.without(named).count
    gone = Span.of(ZERO)
    if left != 0:
        gone = Span(ZERO, rest.most).within(ZERO, product(left, row.listing.cap))
        taken = product(len(named), row.listing.cap)
        gone = gone.within(ZERO if taken is None else max(rest.least - taken, ZERO), None)
    row = _named(row, named)
    unlisted = row.unlisted
    if row.listing.cap is None:
        unlisted = replace(unlisted, inside=frozenset(named), number=len(named))
    else:
        unlisted = replace(unlisted, number=0)
    dropped = [x for x in row.listing.tokens() if x not in wanted]
    return without(replace(row.with_total(row.total.less(gone)), unlisted=unlisted), dropped)


def drop(row: PartialRow, tokens: Collection[int]) -> PartialRow:
    """See `WorkingRow.drop`: unlisted tokens that are named take their mass along, whatever it
    is."""
    named = row.unlisted.among(tokens)
    gone = Span(ZERO, row.rest.most).within(ZERO, product(len(named), row.listing.cap))
    row = replace(row.with_total(row.total.less(gone)), unlisted=row.unlisted.without(named))
    return without(row, [x for x in set(tokens) if row.listing.holds(x)])


def without(row: PartialRow, tokens: list[int]) -> PartialRow:
    if not tokens:
        return _possible(row, row.listing)
    total = row.total
    gone, boxes = row.listing, ZERO
    least = ZERO
    for x in tokens:
        low, high = gone.box(x)
        least += low.least
        boxes += most_of(high)
    total = total.less(Span(least, boxes))
    return _possible(row.with_total(total), row.listing.without(tokens))


def _possible(row: PartialRow, listing: Listing) -> PartialRow:
    if not listing.count() and row.unlisted.count == 0:
        raise RowError(
            "no token is left",
            place=row.place,
            expected="a step that keeps at least one token",
            advice="check the ids and limits of the step; nothing is repaired silently",
        )
    return replace(row, listing=listing)


def divide(row: PartialRow, temperature: Fraction) -> PartialRow:
    """See `WorkingRow.divide`."""
    after = row.listing.changed(row.listing.carrier.divide(temperature))
    if after.lost:
        return replace(_anchored(row, after), lift=row.lift / temperature)
    total_of = partial(_tempered_sum, row, after, ONE / temperature)
    return replace(row, listing=after, total_of=total_of, lift=row.lift / temperature)


def _tempered_sum(row: PartialRow, after: Listing, exponent: Fraction) -> Span:
    """The sum at the new temperature: see `box_powers`."""
    total = row.sum_within_boxes()
    group = None
    if row.unlisted.count != 0:
        cap = row.cap
        if cap is None:
            bare = after.sums()
            return Span(bare.sharp.least + bare.low, None)
        group = (row.unlisted.count, cap)
    try:
        return row.listing.powers(after, group, total, exponent).short()
    except ValueError:
        row.refuse_sum()
