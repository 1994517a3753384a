"""A row of a JSON capture that is known in part: ``{"listed": {...}, "cap": ..., ...}``.

``listed`` maps tokens to numbers of the document's kind, ``cap`` is the most that an unlisted value
can be, in the same units, ``half_width`` how far a listed number may lie from the one that it
stands for, ``slack`` the rounding of the engine's normaliser, ``support`` the only tokens that are
possible. See `model.row.ListedValues`. A row that leaves nothing open is read as a complete one:
every possible token is listed, or one token of a probability row is not and has what is left.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from specdist.errors import CaptureError, RowError
from specdist.model.row import Kind, ListedValues, PointMass, RationalValues, Row
from specdist.readers.json_numbers import NumberError, logprob_slack, number, to_format, type_name
from specdist.readers.json_rows import (
    RowReading,
    number_error,
    read_map,
    read_row,
    token_id,
    token_of_key,
)
from specdist.readers.naming import nearest, shorten

MEMBERS = ("listed", "cap", "half_width", "slack", "support")

_ZERO, _ONE = Fraction(0), Fraction(1)


def is_listed(value: object) -> bool:
    """Whether a JSON value is a row known in part; a map of tokens has no object in it."""
    return isinstance(value, dict) and isinstance(value.get("listed"), dict)


def read_any_row(value: Any, path: str, size: int, reading: RowReading) -> Row:
    """The row at ``path``, whole or known in part. Raises CaptureError for its form, RowError for
    its numbers."""
    if not is_listed(value):
        return read_row(value, path, size, reading)
    parts = _parts(value, path, size, reading)
    _check_values(parts, path, reading)
    values = _completed(parts, reading) or _listed(parts, reading)
    if isinstance(values, ListedValues) and reading.kind is Kind.PROBABILITIES:
        _check_sum(parts, path, reading)
    return Row(values, reading.kind, reading.stage, reading.numbers, reading.place(path))


def smallest_size(values: Iterable[object]) -> int:
    """The smallest vocabulary that has all token ids which rows known in part and one-hot rows
    name; 0 where none of them is known in part."""
    rows = list(values)
    if not any(map(is_listed, rows)):
        return 0
    return 1 + max((token for row in rows for token in _ids_named(row)), default=0)


def listed_text(row: Row) -> str:
    """``2 of 4 tokens``, or how else a row is known."""
    values = row.values
    if isinstance(values, PointMass):
        return "one token"
    if not isinstance(values, ListedValues):
        return f"all {len(values)} tokens"
    named = "any number of" if values.open_ended else str(values.size)
    possible = "" if values.support is None else f", {len(values.support)} possible"
    return f"{len(values.ids)} of {named} tokens{possible}"


@dataclass(frozen=True, slots=True)
class _Parts:
    """The members of such a row, read; tokens rising. ``others`` is how many unlisted tokens are
    possible, None where any number is."""

    ids: tuple[int, ...]
    values: tuple[Fraction | None, ...]
    size: int
    cap: Fraction | None
    half_width: Fraction
    slack: Fraction
    support: tuple[int, ...] | None
    others: int | None


def _parts(value: dict[str, Any], path: str, size: int, reading: RowReading) -> _Parts:
    for key in value:
        if key not in MEMBERS:
            raise CaptureError(
                f"unknown key {shorten(key, 24)!r} in a row known in part",
                place=reading.place(path),
                expected=", ".join(MEMBERS),
                advice=nearest(key, MEMBERS),
            )
    found = read_map(value["listed"], f"{path}.listed", size, reading)
    ids = tuple(sorted(found))
    cap = _number(value, "cap", path, reading) if value.get("cap") is not None else None
    support = _support(value.get("support"), f"{path}.support", size, reading)
    if "cap" in value and cap is None and value["cap"] is not None:
        support = ids if support is None else tuple(x for x in support if x in found)
    _check_support(ids, support, path, reading)
    others = None if reading.open_ended else size - len(ids)
    others = others if support is None else len(set(support) - set(ids))
    return _Parts(
        ids=ids,
        values=tuple(found[token] for token in ids),
        size=size,
        cap=cap,
        half_width=_width(value, "half_width", path, reading),
        slack=_width(value, "slack", path, reading),
        support=support,
        others=others,
    )


def _completed(parts: _Parts, reading: RowReading) -> RationalValues | None:
    """The whole row, where nothing is left open; None elsewhere."""
    if parts.half_width or parts.slack:
        return None
    known: dict[int, Fraction | None] = dict(zip(parts.ids, parts.values, strict=True))
    if reading.kind is Kind.PROBABILITIES:
        none_left = parts.cap == 0
        rest = _ONE - sum((value or _ZERO for value in parts.values), _ZERO)
        if parts.others == 1 and rest >= 0 and (parts.cap is None or rest <= parts.cap):
            possible = range(parts.size) if parts.support is None else parts.support
            (left,) = set(possible) - set(parts.ids)
            known[left] = rest
            none_left = True
    else:
        none_left = False
    if parts.others != 0 and not none_left:
        return None
    missing = _ZERO if reading.kind is Kind.PROBABILITIES else None
    return RationalValues(tuple(known.get(token, missing) for token in range(parts.size)))


def _listed(parts: _Parts, reading: RowReading) -> ListedValues:
    return ListedValues(
        ids=parts.ids,
        values=RationalValues(parts.values),
        size=parts.size,
        open_ended=reading.open_ended,
        cap=parts.cap,
        half_width=parts.half_width,
        slack=parts.slack,
        support=parts.support,
    )


def _check_values(parts: _Parts, path: str, reading: RowReading) -> None:
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


def _check_sum(parts: _Parts, path: str, reading: RowReading) -> None:
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


def _check_support(
    ids: tuple[int, ...], support: tuple[int, ...] | None, path: str, reading: RowReading
) -> None:
    outside = [] if support is None else sorted(set(ids) - set(support))
    if outside:
        raise CaptureError(
            f"token {outside[0]} is listed, and is not in support",
            place=reading.place(f"{path}.listed"),
            expected="support: every token that is possible, the listed ones included",
        )


def _support(
    value: Any, path: str, size: int, reading: RowReading
) -> tuple[int, ...] | None:
    if value is None:
        return None
    if not isinstance(value, list) or not value:
        what = "an empty list" if value == [] else type_name(value)
        raise CaptureError(
            f"support cannot be {what}",
            place=reading.place(path),
            expected="a list of the tokens that are possible",
        )
    tokens = [
        token_of_key(token, f"{path}[{i}]", size, reading)
        if isinstance(token, str)
        else token_id(token, f"{path}[{i}]", size, reading)
        for i, token in enumerate(value)
    ]
    if len(set(tokens)) < len(tokens):
        raise CaptureError("support names a token twice", place=reading.place(path))
    return tuple(sorted(tokens))


def _number(
    value: dict[str, Any], name: str, path: str, reading: RowReading
) -> Fraction | None:
    """A number in the units of the row; None for -inf."""
    try:
        found = number(value[name])
        return None if found is None else to_format(found, reading.numbers)
    except NumberError as error:
        raise number_error(value[name], error, reading.place(f"{path}.{name}")) from None


def _width(value: dict[str, Any], name: str, path: str, reading: RowReading) -> Fraction:
    if value.get(name) is None:
        return _ZERO
    try:
        found = number(value[name])
    except NumberError as error:
        raise number_error(value[name], error, reading.place(f"{path}.{name}")) from None
    if found is None or found < 0:
        raise CaptureError(
            f"{name} is below 0", place=reading.place(f"{path}.{name}"), expected="0 or more"
        )
    return found


def _ids_named(row: object) -> list[int]:
    """The token ids in a row, as far as they are ids."""
    if not isinstance(row, dict):
        return []
    if is_listed(row):
        named: list[object] = [*row["listed"], *(row.get("support") or ())]
    else:
        named = [row["one_hot"]] if set(row) == {"one_hot"} else list(row)
    texts = [str(x) for x in named if isinstance(x, int | str) and not isinstance(x, bool)]
    return [int(text) for text in texts if text.isascii() and text.isdigit() and len(text) <= 12]
