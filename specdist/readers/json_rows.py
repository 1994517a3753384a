"""One row of a JSON capture: an array, a map token -> number, or a one-hot token."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from specdist.errors import CaptureError, RowError, SpecdistError
from specdist.model.row import Kind, NumberFormat, PointMass, RationalValues, Row, Stage
from specdist.readers.json_numbers import (
    NumberError,
    logprob_slack,
    number,
    to_format,
    type_name,
)
from specdist.readers.naming import shape_text, shorten

Number = Fraction | None


@dataclass(frozen=True, slots=True)
class RowReading:
    """How the rows of one capture are read. ``texts`` finds an id by its token text.
    ``open_ended``: nothing says how large the vocabulary is, and sizes are the smallest that fit.
    """

    file: str
    kind: Kind
    stage: Stage
    numbers: NumberFormat
    texts: dict[str, int | None]
    open_ended: bool = False

    def place(self, path: str) -> str:
        return f"{self.file}, {path}"


def is_row(value: object) -> bool:
    """Whether a JSON value is written as a row (and not as a recipe text, say)."""
    return isinstance(value, list | dict)


def size_of(value: object) -> int | None:
    """The vocabulary size that an array row fixes; a map or a one-hot row fixes none."""
    return len(value) if isinstance(value, list) else None


def one_hot_token(value: object) -> Any:
    """The token of ``{"one_hot": token}``, or None for every other row."""
    if isinstance(value, dict) and set(value) == {"one_hot"}:
        return value["one_hot"]
    return None


def read_row(value: Any, path: str, size: int, reading: RowReading) -> Row:
    """The row at ``path``. Raises CaptureError for its form, RowError for its numbers."""
    if isinstance(value, list):
        values = _array(value, path, size, reading)
    elif not isinstance(value, dict):
        raise CaptureError(
            f"a row cannot be {type_name(value)}",
            place=reading.place(path),
            expected="an array of numbers, a map of token to number, or an object "
            'such as {"one_hot": 1}',
        )
    elif (token := one_hot_token(value)) is not None:
        return point_mass(token, f"{path}.one_hot", size, reading)
    elif isinstance(value.get("listed"), dict):
        raise CaptureError(
            "a row known in part cannot stand here",
            place=reading.place(path),
            expected="a whole row; target, draft, bonus and rows of roles may be listed in part",
        )
    else:
        values = _map(value, path, size, reading)
    _check_mass(values, path, reading)
    return Row(
        RationalValues(values), reading.kind, reading.stage, reading.numbers, reading.place(path)
    )


def point_mass(token: Any, path: str, size: int, reading: RowReading) -> Row:
    """All mass on one token: a one-hot draft, or a draft known by its token alone."""
    checked = token_id(token, path, size, reading)
    return Row(
        PointMass(checked, size),
        Kind.PROBABILITIES,
        Stage.RAW,
        NumberFormat.DECIMAL,
        reading.place(path),
    )


def token_id(token: Any, path: str, size: int, reading: RowReading) -> int:
    """A token id inside the vocabulary. Raises CaptureError."""
    if type(token) is not int:
        raise CaptureError(
            f"a token id cannot be {type_name(token)}",
            place=reading.place(path),
            expected="a whole number",
        )
    if not 0 <= token < size:
        raise CaptureError(
            f"token id {shorten(str(token), 24)} is outside the vocabulary of {size} tokens",
            place=reading.place(path),
            expected=f"0 to {size - 1}",
        )
    return token


def _array(value: list[Any], path: str, size: int, reading: RowReading) -> tuple[Number, ...]:
    if not value:
        raise RowError("the row is empty", place=reading.place(path), expected="one number a token")
    if len(value) != size:
        raise CaptureError(
            f"this row has {len(value)} numbers, the vocabulary {size} tokens",
            place=reading.place(path),
            expected=f"shape {shape_text([size])} like the other rows beside it",
            advice='write both rows over the same vocabulary; a masked token is 0 or "-inf"',
        )
    return tuple(_numbers(value, lambda i: f"{path}[{i}]", reading))


def _map(value: dict[str, Any], path: str, size: int, reading: RowReading) -> tuple[Number, ...]:
    found = read_map(value, path, size, reading)
    missing: Number = Fraction(0) if reading.kind is Kind.PROBABILITIES else None
    row = [missing] * size
    for token, item in found.items():
        row[token] = item
    return tuple(row)


def read_map(value: dict[str, Any], path: str, size: int, reading: RowReading) -> dict[int, Number]:
    """The numbers of a map of tokens, by id. Raises CaptureError or RowError."""
    if not value:
        raise RowError("the row is empty", place=reading.place(path), expected="one number a token")
    keys = list(value)
    tokens = [token_of_key(key, f'{path}["{shorten(key, 24)}"]', size, reading) for key in keys]
    found = _numbers(list(value.values()), lambda i: f'{path}["{shorten(keys[i], 24)}"]', reading)
    row: dict[int, Number] = {}
    for token, item in zip(tokens, found, strict=True):
        if token in row:
            raise CaptureError(
                f"token {token} occurs twice, by id and by text", place=reading.place(path)
            )
        row[token] = item
    return row


def token_of_key(key: str, place: str, size: int, reading: RowReading) -> int:
    """The token that a key of a map names, by id or by text. Raises CaptureError at ``place``."""
    if key.isascii() and key.isdigit():
        if (len(key) > 1 and key[0] == "0") or len(key) > 12:
            raise CaptureError(
                f"{shorten(key, 24)!r} is not a token id",
                place=reading.place(place),
                expected="a whole number without leading zeros",
            )
        return token_id(int(key), place, size, reading)
    token = reading.texts.get(key)
    if token is not None:
        return token
    twice = key in reading.texts
    raise CaptureError(
        f"{shorten(key, 24)!r} is the text of several tokens"
        if twice
        else f"{shorten(key, 24)!r} is neither a token id nor a text of the vocabulary",
        place=reading.place(place),
        expected='ids as keys, such as {"5": "1/2"}, or {"one_hot": 5}',
    )


def _numbers(values: list[Any], path_of: Callable[[int], str], reading: RowReading) -> list[Number]:
    result: list[Number] = []
    decimal = reading.numbers is NumberFormat.DECIMAL
    try:
        for value in values:
            found = number(value)
            result.append(found if decimal or found is None else to_format(found, reading.numbers))
    except NumberError as error:
        index = len(result)
        raise number_error(values[index], error, reading.place(path_of(index))) from None
    return result


def number_error(value: object, error: NumberError, place: str) -> SpecdistError:
    """The error for a value that is no number of a row."""
    expected = 'a number such as 0.3, "3/10" or "-inf"'
    kind = RowError if isinstance(value, str | int) and type(value) is not bool else CaptureError
    return kind(str(error), place=place, expected=expected)


def _check_mass(values: tuple[Number, ...], path: str, reading: RowReading) -> None:
    if reading.kind is Kind.LOGITS:
        return
    slack = logprob_slack(reading.numbers)
    for index, value in enumerate(values):
        if reading.kind is Kind.LOGPROBS:
            if value is not None and value > slack:
                raise RowError(
                    f"a log-probability above 0, {shorten(str(value), 24)}",
                    place=reading.place(f"{path}, token {index}"),
                    expected="values up to 0",
                    advice='write "kind": "logits" if these are logits',
                )
        elif value is None or value < 0:
            what = "-inf as a probability"
            if value is not None:
                what = f"a negative probability, {shorten(str(value), 24)}"
            raise RowError(
                what,
                place=reading.place(f"{path}, token {index}"),
                expected="values from 0 to 1",
                advice='write "kind": "logits" if these are logits',
            )
