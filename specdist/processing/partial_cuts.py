"""The filters on a row that is known in part: what stays for sure, what goes, what is open."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING

from specdist.processing import box_limits, box_order, box_prefix
from specdist.processing.boxes import Field, Verdict
from specdist.processing.cut_remarks import prefix_remarks, written
from specdist.processing.logit import ONE, ZERO
from specdist.processing.spans import Span
from specdist.processing.working_row import Remark

if TYPE_CHECKING:
    from specdist.processing.partial_working_row import PartialRow

_NAMED = 5


def argmax(row: PartialRow, ties: str) -> PartialRow:
    """See `WorkingRow.argmax`: the first, or all ties, of the top one."""
    field = _field(row, row.listing.floor(1))
    found = box_order.top(field, 1, "all" if ties == "all" else "lowest-id")
    if found.group_count == 0 and row.listing.sharp:
        return replace(row, made=row.ordinary().argmax(ties))
    if found.group_count == 0 and not found.open and len(found.kept) == 1:
        return replace(row, made=row.point(min(found.kept)))
    even = row.listing.even(found.kept | found.open, cap=found.group_count != 0)
    remark = _open_remark("temperature 0", found, "may be the most likely token", field)
    return replace(
        row,
        listing=even,
        unlisted=row.unlisted.at_most(found.group_count),
        total_of=lambda: Span.of(ONE),
        lift=ZERO,
        remarks=row.remarks + remark,
    )


def keep_top(row: PartialRow, count: int, ties: str) -> PartialRow:
    """See `WorkingRow.keep_top`."""
    possible = row.unlisted.count
    if possible is not None and row.listing.count() + possible <= count:
        return row
    field = _field(row, row.listing.floor(count))
    found = box_order.top(field, count, "all" if ties == "all" else "lowest-id")
    if found.group_count == 0 and row.listing.sharp:
        return replace(row, made=row.ordinary().keep_top(count, ties))
    return _cut(row, found, "top-k", f"may belong to the {count} largest", field)


def keep_prefix(row: PartialRow, mass: Fraction, boundary: str, ties: str) -> PartialRow:
    """See `WorkingRow.keep_prefix`."""
    total = row.sum_within_boxes()
    floor = ZERO if total.most is None else row.listing.floor_of_mass(mass * total.most)
    field = _field(row, floor)
    found = box_prefix.prefix(field, mass, boundary, ties)
    if boundary != "partial" and not found.open and found.group_count == 0:
        row = replace(row, remarks=row.remarks + _prefix_remarks(field, found, mass))
    what = f"may belong to the mass {written(mass)}"
    if found.group_count != 0 and field.total.most:
        held = sum(box.low for box in field.boxes) * field.unit + field.left_out
        what += f": the listed ones have at least {written(held / field.total.most)}"
    return _cut(row, found, "top-p", what, field)


def keep_relative(row: PartialRow, fraction: Fraction, strict: bool) -> PartialRow:
    """See `WorkingRow.keep_relative`."""
    field = _field(row, fraction * row.listing.floor(1))
    found = box_limits.relative(field, fraction, strict)
    if found.group_count == 0 and row.listing.sharp:
        return replace(row, made=row.ordinary().keep_relative(fraction, strict))
    return _cut(row, found, "min-p", f"may reach {written(fraction)} of the largest", field)


def keep_at_least(row: PartialRow, probability: Fraction) -> PartialRow:
    """See `WorkingRow.keep_at_least`."""
    total = row.sum_within_boxes()
    floor = min(probability * total.least, row.listing.floor(1))
    field = _field(row, floor)
    found = box_limits.share(field, probability)
    return _cut(row, found, "epsilon", f"may reach the probability {written(probability)}", field)


def _field(row: PartialRow, floor: Fraction) -> Field:
    return row.listing.field(row.group, lambda: (row.sum_within_boxes(), row.rest), floor)


def _cut(row: PartialRow, found: Verdict, step: str, what: str, field: Field) -> PartialRow:
    """The row after a verdict, whose sum is in units of the carrier."""
    total = found.total.over(row.listing.field_unit).short()
    listing = row.listing.only(found.kept, found.open, cap=found.group_count != 0)
    return replace(
        row,
        listing=listing,
        unlisted=row.unlisted.at_most(found.group_count),
        total_of=lambda: total,
        remarks=row.remarks + _open_remark(step, found, what, field),
    )


def _open_remark(step: str, found: Verdict, what: str, field: Field) -> tuple[Remark, ...]:
    if found.group_count != 0:
        count = "" if found.group_count is None else f"{found.group_count} "
        tokens = "token that is" if found.group_count == 1 else "tokens that are"
        message = f"{step}: {count}{tokens} not listed {what}; list more tokens to decide it"
        return (Remark("truncated-row", message, step),)
    if not found.open:
        return ()
    order = sorted(found.open)
    names = ", ".join(map(str, order[:_NAMED])) + (", ..." if len(order) > _NAMED else "")
    noun = "token" if len(order) == 1 else "tokens"
    message = f"{step}: {noun} {names} {what}; what is known of the row does not decide it"
    return (Remark("undecided-precision", message, step),)


def _prefix_remarks(field: Field, found: Verdict, mass: Fraction) -> tuple[Remark, ...]:
    """The remarks of a decided prefix whose sum lies close to its threshold."""
    if field.total.most is None or not found.kept:
        return ()
    total = (field.total.least + field.total.most) / 2
    kept = [box for box in field.boxes if box.token in found.kept]
    reached = sum(box.low for box in kept) * field.unit
    before = reached - min(box.low for box in kept) * field.unit
    return prefix_remarks("top-p", mass, before / total, reached / total, ZERO)
