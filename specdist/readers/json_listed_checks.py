"""Numbers that no distribution has: what a JSON row known in part is refused for."""

from __future__ import annotations

from fractions import Fraction

from specdist.errors import RowError
from specdist.model.row import Kind
from specdist.readers.json_listed_members import ListedParts
from specdist.readers.json_numbers import logprob_slack
from specdist.readers.json_rows import RowReading
from specdist.readers.naming import shorten

_ZERO, _ONE = Fraction(0), Fraction(1)


def check_values(parts: ListedParts, path: str, reading: RowReading) -> None:
    """Refuses probabilities below 0, and log-probabilities above 0 by more than rounding."""
    most = logprob_slack(reading.numbers) + parts.half_width
    for token, value in zip(parts.ids, parts.values, strict=True):
        where = reading.place(f"{path}.listed, token {token}")
        if reading.kind is Kind.LOGPROBS and value is not None and value > most:
            raise RowError(
                f"a log-probability above 0, {shorten(str(value), 24)}",
                place=where,
                expected="values up to 0",
                advice='write "kind": "logits" if these are logits',
            )
        if reading.kind is Kind.PROBABILITIES and (value is None or value < 0):
            shown = "-inf as a probability"
            if value is not None:
                shown = f"a negative probability, {shorten(str(value), 24)}"
            raise RowError(
                shown,
                place=where,
                expected="values from 0 to 1",
                advice='write "kind": "logits" if these are logits',
            )
    if reading.kind is Kind.PROBABILITIES and parts.cap is not None and parts.cap < 0:
        raise RowError(
            f"cap is {shorten(str(parts.cap), 24)}",
            place=reading.place(f"{path}.cap"),
            expected="the most that an unlisted probability can be, from 0 to 1",
        )


def check_sum(parts: ListedParts, path: str, reading: RowReading) -> None:
    """Refuses listed probabilities that no distribution has: above 1 together, or so few that the
    unlisted tokens have no room for what is left."""
    if parts.slack:
        return
    listed = [value or _ZERO for value in parts.values]
    least = sum((max(value - parts.half_width, _ZERO) for value in listed), _ZERO)
    if least > 1:
        raise RowError(
            f"the listed probabilities sum to {shorten(str(sum(listed, _ZERO)), 24)}",
            place=reading.place(f"{path}.listed"),
            expected="at most 1: the unlisted tokens have what is left",
        )
    left = _ONE - sum(listed, _ZERO) - len(listed) * parts.half_width
    if parts.others is None or left <= 0:
        return
    room = _ONE if parts.cap is None and parts.others else parts.others * (parts.cap or _ZERO)
    if left > room:
        each = "" if parts.cap is None else f" of at most {shorten(str(parts.cap), 24)} each"
        raise RowError(
            f"{shorten(str(left), 24)} is left, and there are {parts.others} unlisted tokens{each}",
            place=reading.place(path),
            expected="a cap, and a number of tokens, that hold what the listed ones leave",
        )
