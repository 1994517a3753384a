"""The members of a JSON row that is known in part."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from specdist.errors import CaptureError
from specdist.readers.json_numbers import NumberError, number, to_format, type_name
from specdist.readers.json_rows import RowReading, number_error, read_map, token_id, token_of_key
from specdist.readers.naming import nearest, shorten

MEMBERS = ("listed", "cap", "half_width", "slack", "support")


@dataclass(frozen=True, slots=True)
class ListedParts:
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


def read_parts(value: dict[str, Any], path: str, size: int, reading: RowReading) -> ListedParts:
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
    check_support(ids, support, path, reading)
    others = None if reading.open_ended else size - len(ids)
    others = others if support is None else len(set(support) - set(ids))
    return ListedParts(
        ids=ids,
        values=tuple(found[token] for token in ids),
        size=size,
        cap=cap,
        half_width=_width(value, "half_width", path, reading),
        slack=_width(value, "slack", path, reading),
        support=support,
        others=others,
    )


def check_support(
    ids: tuple[int, ...], support: tuple[int, ...] | None, path: str, reading: RowReading
) -> None:
    outside = [] if support is None else sorted(set(ids) - set(support))
    if outside:
        raise CaptureError(
            f"token {outside[0]} is listed, and is not in support",
            place=reading.place(f"{path}.listed"),
            expected="support: every token that is possible, the listed ones included",
        )


def _support(value: Any, path: str, size: int, reading: RowReading) -> tuple[int, ...] | None:
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


def _number(value: dict[str, Any], name: str, path: str, reading: RowReading) -> Fraction | None:
    """A number in the units of the row; None for -inf."""
    try:
        found = number(value[name])
        return None if found is None else to_format(found, reading.numbers)
    except NumberError as error:
        raise number_error(value[name], error, reading.place(f"{path}.{name}")) from None


def _width(value: dict[str, Any], name: str, path: str, reading: RowReading) -> Fraction:
    if value.get(name) is None:
        return Fraction(0)
    try:
        found = number(value[name])
    except NumberError as error:
        raise number_error(value[name], error, reading.place(f"{path}.{name}")) from None
    if found is None or found < 0:
        raise CaptureError(
            f"{name} is below 0", place=reading.place(f"{path}.{name}"), expected="0 or more"
        )
    return found
