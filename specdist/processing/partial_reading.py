"""From a captured row that lists some tokens to the row that steps work on."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from specdist.errors import NotNormalisedError
from specdist.model.row import FloatValues, Kind, ListedValues, RationalValues, Row
from specdist.processing.cut_remarks import written
from specdist.processing.listing import Read
from specdist.processing.logit import ONE, ZERO
from specdist.processing.partial_working_row import PartialRow
from specdist.processing.row_sum import sum_allowance
from specdist.processing.spans import Span, exponential, product
from specdist.processing.unlisted import Unlisted
from specdist.processing.working_row import Remark


def read_partial(row: Row, size: int) -> PartialRow | Row:
    """The row before any step, over at least ``size`` tokens; an ordinary `Row` where every
    possible token is listed and sharp.

    With w(x) the stored numbers as weights, the sum of all is ``exp(s)``, ``|s| <= slack``; that of
    logits is what the tokens and the cap bound. What the sum leaves bounds every unlisted token
    too. Raises RowError for numbers that belong to no distribution.
    """
    values = row.values
    if not isinstance(values, ListedValues):
        raise TypeError("a row that is known in part is needed")
    read = _read(row, values)
    unlisted = _unlisted(values, size)
    if values.cap is not None and values.cap <= 0 and row.kind is Kind.PROBABILITIES:
        unlisted = replace(unlisted, number=0)
    lift = values.slack if row.kind is Kind.PROBABILITIES else ZERO
    made = PartialRow(row, read.listing, unlisted, lambda: Span(ZERO, None), lift=lift)
    if unlisted.count == 0 and not values.half_width and not values.slack:
        return _complete(row, values, size)
    if row.kind is not Kind.LOGITS:
        made = _with_rest(_with_sum(made, values, read.largest))
    if made.unlisted.count == 0 and not values.half_width:
        return _complete(row, values, size)
    known = _with_last(made, values)
    return _with_support(made) if known is None else _complete(row, known, size)


def _read(row: Row, values: ListedValues) -> Read:
    if isinstance(values.values, RationalValues):
        from specdist.processing.rational_listed import read_rational

        return read_rational(row, values)
    from specdist.processing.float_listed import read_float

    return read_float(row, values)


def _unlisted(values: ListedValues, size: int) -> Unlisted:
    if values.support is not None:
        inside = frozenset(values.support) - frozenset(map(int, values.ids))
        return Unlisted(size, (), len(inside), open_ended=values.open_ended, inside=inside)
    outside = values.ids
    number = None if values.open_ended else size - len(outside)
    return Unlisted(size, outside, number, open_ended=values.open_ended)  # type: ignore[arg-type]


def _with_sum(row: PartialRow, values: ListedValues, largest: Fraction) -> PartialRow:
    """The row with the sum of all weights in units of the largest. Raises RowError where neither
    the slack nor the rounding of the format explains it."""
    kind, place = row.captured.kind, row.captured.place
    sharp, low, high = row.listing.sums()
    least = sharp.least + low
    unlisted = product(row.unlisted.count, row.listing.cap)
    most = None if unlisted is None or sharp.most is None else sharp.most + high + unlisted
    allowed = sum_allowance(row.captured.numbers, row.captured.size, ONE)
    for slack in (values.slack, values.slack + allowed):
        total = _stored_sum(kind, largest, slack)
        if (total.most is None or least <= total.most) and (most is None or most >= total.least):
            break
    else:
        one = _stored_sum(kind, largest, ZERO).least
        if least < one:
            row.refuse_sum()
        what = "probabilities" if kind is Kind.PROBABILITIES else "log-probabilities"
        raise NotNormalisedError(
            f"the listed {what} alone sum to 1 + {written(least / one - 1)}",
            place=place,
            expected="a part of one distribution",
            advice="if these are logits, say --kind logits; rounded numbers need their slack",
        )
    if slack == values.slack:
        return row.with_total(total)
    remark = Remark(
        "row-not-normalised",
        f"the listed values miss a sum of 1 by less than {written(slack)}: within the rounding "
        "of their format, which the intervals include",
    )
    return replace(row.with_total(total), remarks=(remark,))


def _stored_sum(kind: Kind, largest: Fraction, slack: Fraction) -> Span:
    if kind is Kind.LOGPROBS:
        low, high = exponential(-largest - slack), exponential(-largest + slack)
        return Span(low.least, high.most)
    if not slack:
        return Span.of(1 / largest)
    low, high = exponential(-slack), exponential(slack)
    return Span(low.least / largest, None if high.most is None else high.most / largest)


def _with_rest(row: PartialRow) -> PartialRow:
    """The row with a cap that is no larger than what the listed tokens leave."""
    rest, cap = row.rest, row.listing.cap
    if row.unlisted.count == 0:
        return row
    if rest.most == 0:
        return replace(row, unlisted=replace(row.unlisted, number=0))
    if rest.most is not None and (cap is None or rest.most < cap):
        return replace(row, listing=row.listing.with_cap(rest.most))
    return row


def _with_last(row: PartialRow, values: ListedValues) -> ListedValues | None:
    """The listed values with the one token that they lack, where its probability is all that is
    left, exactly; None elsewhere."""
    rest, sharp = row.rest, not values.half_width
    if row.unlisted.number != 1 or not rest.closed or not sharp or row.unlisted.open_ended:
        return None
    if row.captured.kind is not Kind.PROBABILITIES or not row.total.closed:
        return None
    token, left = row.unlisted.ids()[0], rest.least / row.total.least
    known = dict(zip(map(int, values.ids), range(len(values.ids)), strict=True))
    order = sorted([*known, token])
    if isinstance(values.values, RationalValues):
        numbers = [left if x == token else values.values.values[known[x]] for x in order]
        return replace(values, ids=tuple(order), values=RationalValues(tuple(numbers)))
    if not isinstance(values.values, FloatValues) or Fraction(float(left)) != left:
        return None
    import numpy as np

    array = values.values.array
    floats = [float(left) if x == token else float(array[known[x]]) for x in order]
    return replace(values, ids=tuple(order), values=FloatValues(np.array(floats)))


def _with_support(row: PartialRow) -> PartialRow:
    """The row with all possible tokens listed, where the capture names them."""
    if not row.unlisted.inside or row.unlisted.count == 0 or row.listing.cap is None:
        return row
    named = row.unlisted.ids()
    listing = row.listing.with_upper(named)
    return replace(row, listing=listing, unlisted=row.unlisted.without(named))


def _complete(row: Row, values: ListedValues, size: int) -> Row:
    """The row of all tokens. Where the sum of its log-probabilities has a slack of its own they
    are read as logits, which have the same law."""
    kind = row.kind
    if kind is Kind.LOGPROBS and values.slack:
        kind = Kind.LOGITS
    if isinstance(values.values, RationalValues):
        known = dict(zip(map(int, values.ids), values.values.values, strict=True))
        missing = ZERO if kind is Kind.PROBABILITIES else None
        whole = RationalValues(tuple(known.get(x, missing) for x in range(size)))
        return replace(row, values=whole, kind=kind)
    from specdist.processing.float_listed import whole_array

    return replace(row, values=FloatValues(whole_array(row, values, size)), kind=kind)
