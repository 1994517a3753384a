"""Listed fractions as the entries of a carrier."""

from __future__ import annotations

from fractions import Fraction

from specdist.errors import RowError
from specdist.model.row import Kind, ListedValues, RationalValues, Row
from specdist.processing.cut_remarks import written
from specdist.processing.listing import ANCHOR, CAP, ENTRIES, Read, upper
from specdist.processing.logit import ZERO, Logit, of_logit, of_probability
from specdist.processing.rational_listing import RationalListing
from specdist.processing.rational_row import RationalRow


def read_rational(row: Row, values: ListedValues) -> Read:
    """See `partial_reading`. Raises RowError for a probability below 0 and for a row without a
    possible token."""
    if not isinstance(values.values, RationalValues):
        raise TypeError("fractions are needed")
    probabilities = row.kind is Kind.PROBABILITIES
    of = of_probability if probabilities else of_logit
    logits: dict[int, Logit] = {}
    width, highest = values.half_width, None
    for token, value in zip(map(int, values.ids), values.values.values, strict=True):
        if probabilities:
            _refuse_negative(row, token, value)
        if value is None or (probabilities and not value and not width):
            continue
        if not probabilities or value > width:
            logits[token] = of(value - width)
        if width:
            logits[upper(token)] = of(value + width)
        highest = value + width if highest is None else max(highest, value + width)
    if highest is None:
        raise no_listed_token(row.place)
    cap = values.cap
    if cap is not None and (not probabilities or cap > 0):
        logits[CAP] = of(cap)
        highest = max(highest, cap)
    logits[ANCHOR] = of(highest)
    carrier = RationalRow(ENTRIES, dict(sorted(logits.items())), row.place)
    return Read(RationalListing(carrier), highest)


def _refuse_negative(row: Row, token: int, value: Fraction | None) -> None:
    if value is None or value < ZERO:
        raise RowError(
            f"probability of token {token} is {'-inf' if value is None else written(value)}",
            place=row.place,
            expected="probabilities of at least 0",
            advice="if these are logits, say --kind logits",
        )


def no_listed_token(place: str) -> RowError:
    """The complaint about a row whose listed tokens are all impossible."""
    return RowError(
        "no listed token is possible",
        place=place,
        expected="at least one token with a probability above 0",
    )
