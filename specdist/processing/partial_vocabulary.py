"""Other vocabularies for a row that is known in part: maps of ids, cut and padded sizes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from specdist.processing.cut_remarks import lost_mass_remark, written
from specdist.processing.logit import ONE, ZERO
from specdist.processing.partial_changes import without
from specdist.processing.spans import Span, most_of, product
from specdist.processing.unlisted import Unlisted
from specdist.processing.working_row import Remark

if TYPE_CHECKING:
    from specdist.processing.partial_working_row import PartialRow


def of_size(row: PartialRow, size: int) -> PartialRow:
    """An open-ended row over a vocabulary whose size a map tells, where the row fits into it."""
    known = row.unlisted
    if not known.open_ended or known.size > size:
        return row
    number = None if known.inside is not None else size - len(known.outside) - len(known.apart)
    return replace(
        row, unlisted=replace(known, size=size, open_ended=False, number=number or known.number)
    )


def mapped(row: PartialRow, targets: Sequence[int], size: int) -> PartialRow:
    """See `WorkingRow.mapped`: the map names the draft's whole vocabulary."""
    goals = [targets[x] for x in row.unlisted.ids()]
    lost = sum(1 for goal in goals if goal < 0)
    dropped = [x for x in row.listing.tokens() if targets[x] < 0]
    row = _cut(row, dropped, lost, "vocab-map", "on tokens without a target id")
    inside = frozenset(goal for goal in goals if goal >= 0)
    unlisted = Unlisted(size, (), len(inside), row.unlisted.limit, inside=inside)
    listing = row.listing.renamed({x: targets[x] for x in row.listing.tokens()})
    return replace(row, listing=listing, unlisted=unlisted)


def resized(row: PartialRow, size: int) -> PartialRow:
    """See `WorkingRow.resized`."""
    known = row.unlisted
    dropped = [x for x in row.listing.tokens() if x >= size]
    if known.inside is not None:
        inside = frozenset(x for x in known.inside if x < size)
        unlisted = replace(known, size=size, number=len(inside - known.apart), inside=inside)
    else:
        shared = size if known.open_ended else min(size, known.size)
        apart = frozenset(x for x in known.apart if x < shared)
        outside = [int(x) for x in known.outside if x < shared]
        number = shared - len(outside) - len(apart)
        outside += range(shared, size)
        unlisted = Unlisted(size, outside, number, known.limit, apart=apart)
    lost = None if known.number is None else known.number - (unlisted.number or 0)
    row = _cut(row, dropped, lost, "vocab-size", f"on ids from {size} on")
    return replace(row, unlisted=unlisted)


def _cut(
    row: PartialRow, dropped: list[int], lost: int | None, step: str, where: str
) -> PartialRow:
    """The row without listed tokens and without ``lost`` unlisted ones (None: any number)."""
    gone = Span.of(ZERO)
    if row.unlisted.count != 0 and lost != 0:
        gone = Span(ZERO, row.rest.most).within(ZERO, product(lost, row.listing.cap))
    total, before = row.sum_within_boxes(), row
    row = without(row.with_total(total.less(gone)), dropped)
    return replace(row, remarks=before.remarks + _lost_remarks(before, dropped, gone, step, where))


def _lost_remarks(
    row: PartialRow, dropped: list[int], gone: Span, step: str, where: str
) -> tuple[Remark, ...]:
    total = row.sum_within_boxes()
    listed = sum((most_of(row.listing.box(x)[1]) for x in dropped), ZERO)
    if gone.most == 0:
        return lost_mass_remark(step, listed / total.least if total.least else ZERO, where)
    most = None if gone.most is None or not total.least else (listed + gone.most) / total.least
    upto = "mass" if most is None else f"up to mass {written(min(most, ONE))}"
    message = f"{step}: {upto} {where} is dropped, part of it not listed; the rest is renormalised"
    return (Remark("row-not-normalised", message),)
