"""Rows given as Python values: exact numbers in sequences, arrays, or tensors."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import Any

from specdist.errors import SettingsError
from specdist.model.capture import Capture, Position, Step
from specdist.model.row import Kind, NumberFormat, PointMass, RationalValues, Row, Stage
from specdist.python_arrays import array_ids, array_rows, is_array

_LONGEST = 13_288
"""Bits of 4,000 decimal digits: longer whole numbers cannot be written out by Python."""


def python_capture(target: Any, draft: Any, kind: Kind) -> Capture:
    """Rows as a capture of steps of one position. Raises SettingsError for what holds no rows."""
    targets = python_rows(target, kind, "target")
    size = targets[0].size if targets else 0
    drafts = _drafts(draft, kind, size, len(targets))
    if len(targets) != len(drafts):
        raise SettingsError(f"{len(targets)} target rows and {len(drafts)} draft rows")
    steps = tuple(
        Step(
            f"row:{index}",
            f"row {index}",
            (Position(0, row, other, _token(other)),),
            draft_tokens=None if _token(other) is None else (_token(other) or 0,),
        )
        for index, (row, other) in enumerate(zip(targets, drafts, strict=True))
    )
    return Capture("python", "python", lambda: iter(steps), step_count=len(steps))


def _token(row: Row) -> int | None:
    return row.values.token if isinstance(row.values, PointMass) else None


def _drafts(draft: Any, kind: Kind, size: int, count: int) -> list[Row]:
    if is_array(draft) and (ids := array_ids(draft, "draft")) is not None:
        listed = [ids] if isinstance(ids, int) else ids
        return [_point_mass(token, size, index) for index, token in enumerate(listed)]
    ids = [draft] if isinstance(draft, int) else draft
    if count != 1 or isinstance(draft, int):
        whole = isinstance(ids, Sequence) and not isinstance(ids, str)
        if whole and ids and all(type(token) is int for token in ids):
            return [_point_mass(token, size, index) for index, token in enumerate(ids)]
    return python_rows(draft, kind, "draft")


def _point_mass(token: int, size: int, index: int) -> Row:
    if not 0 <= token < size:
        raise SettingsError(
            f"draft token {shown(token)} is outside the vocabulary of {size} tokens"
        )
    values = PointMass(token, size)
    return Row(values, Kind.PROBABILITIES, Stage.RAW, NumberFormat.DECIMAL, f"draft[{index}]")


def python_rows(source: Any, kind: Kind, side: str) -> list[Row]:
    """A row [V] or rows [T, V]. Raises SettingsError with the place in ``side``."""
    if is_array(source):
        return array_rows(source, kind, side)
    if isinstance(source, str | bytes) or not isinstance(source, Iterable):
        raise _no_row(source, side)
    rows = list(source)
    if rows and isinstance(rows[0], Iterable) and not isinstance(rows[0], str | bytes):
        return [_row(row, kind, f"{side}[{index}]") for index, row in enumerate(rows)]
    return [_row(rows, kind, side)]


def _no_row(source: Any, place: str) -> SettingsError:
    file = isinstance(source, str | bytes)
    return SettingsError(
        f"{shown(source)} is no row",
        place=place,
        expected="a row [V] or rows [T, V]: numbers, an array or a tensor",
        advice="files are read by `specdist check`; here pass what they hold, as numpy.load(FILE)"
        if file
        else "",
    )


def shown(value: Any) -> str:
    """At most 40 characters of a value, whatever its size."""
    try:
        text = repr(value)
    except ValueError:  # whole numbers of thousands of digits are not written out
        return "a number of thousands of digits"
    return text if len(text) <= 40 else f"{text[:37]}..."


def _row(numbers: Any, kind: Kind, place: str) -> Row:
    if is_array(numbers):
        if len(rows := array_rows(numbers, kind, place)) != 1:
            raise SettingsError(f"{len(rows)} rows stand where one is expected", place=place)
        return rows[0]
    if isinstance(numbers, str | bytes) or not isinstance(numbers, Iterable):
        raise _no_row(numbers, place)
    values = tuple(_number(number, f"{place}[{i}]") for i, number in enumerate(numbers))
    return Row(RationalValues(values), kind, Stage.RAW, NumberFormat.DECIMAL, place)


def _number(number: Any, place: str) -> Fraction | None:
    if isinstance(number, str) and number.strip() == "-inf":
        return None
    if isinstance(number, Fraction | int | str) and not isinstance(number, bool):
        try:
            value = _fraction(number)
        except (ValueError, ZeroDivisionError):
            pass
        else:
            return value
    raise SettingsError(
        f"{shown(number)} is not an exact number",
        place=place,
        expected='a Fraction, an int, or text such as "3/10" or "0.1", of up to 4000 digits',
        advice="pass floats as a numpy array (binary rationals) or as text (decimals)",
    )


def _fraction(number: Fraction | int | str) -> Fraction:
    """Raises ValueError for what is no number, or one of more than 4,000 digits."""
    if isinstance(number, str):
        exponent = number.lower().partition("e")[2].strip().lstrip("+-")
        if len(number) > 4_000 or len(exponent) > 4 or int(exponent or 0) > 2_000:
            raise ValueError(number)
    value = Fraction(number)
    if max(value.numerator.bit_length(), value.denominator.bit_length()) > _LONGEST:
        raise ValueError(number)
    return value
