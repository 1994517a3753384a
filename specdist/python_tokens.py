"""What is said by token beside Python rows: kept, accepted, recovered, mapped to target ids."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from math import isfinite
from typing import Any

from specdist.errors import SettingsError
from specdist.model.capture import Capture, Step
from specdist.model.options import ProcessingOptions
from specdist.model.row import Kind, NumberFormat, RationalValues, Row
from specdist.python_arrays import row_numbers
from specdist.python_rows import python_rows, shown

Chances = tuple[Fraction, ...]
GIVEN = ("accept", "recovery")
"""Rows of the rule `given`."""

_ROUNDING = {
    NumberFormat.BFLOAT16: Fraction(1, 2**7),
    NumberFormat.FLOAT16: Fraction(1, 2**10),
    NumberFormat.FLOAT32: Fraction(1, 2**10),
    NumberFormat.FLOAT64: Fraction(1, 2**10),
}
"""How far the rounded numbers of a law may be from summing to one. Those of a bfloat16 law are off
by up to 2^-8 of themselves each, those of a float16 law by up to 2^-11, or by 2^-25 where they are
subnormal."""


def with_tokens(capture: Capture, by_token: Mapping[str, Any], draft_map: Any) -> Capture:
    """The capture with numbers by token ("keep", "accept", "recovery") and a map of draft ids.

    Acceptance probabilities select the rule `given`. Raises SettingsError, and CaptureError for an
    entry of the map that is no target id.
    """
    steps = tuple(capture.steps())
    size = steps[0].positions[0].target.size if steps else 0
    found = {
        name: _rows(value, name, size, len(steps))
        for name, value in by_token.items()
        if value is not None
    }
    if any(name in found for name in GIVEN):
        _refuse_incomplete(found)
    ids = None if draft_map is None else _map(draft_map)
    told = tuple(
        _told(step, {name: rows[index] for name, rows in found.items()}, ids)
        for index, step in enumerate(steps)
    )
    return replace(capture, steps=lambda: iter(told))


def _told(step: Step, numbers: Mapping[str, Chances], ids: tuple[int, ...] | None) -> Step:
    given = {name: numbers[name] for name in GIVEN if name in numbers}
    position = replace(step.positions[0], keep=numbers.get("keep"), given=given, draft_map=ids)
    options = ProcessingOptions(rule="given") if given else step.options
    return replace(step, positions=(position,), options=options)


def _refuse_incomplete(found: Mapping[str, object]) -> None:
    for name in GIVEN:
        if name not in found:
            raise SettingsError(
                f"{name} is missing",
                expected="accept: a probability for each token, and recovery: the law after a "
                "rejection (zeros where nothing is ever rejected)",
            )


def _rows(source: Any, name: str, size: int, count: int) -> list[Chances]:
    """A row for all positions, or one a position."""
    rows = python_rows(source, Kind.PROBABILITIES, name)
    if len(rows) not in (1, count):
        raise SettingsError(f"{len(rows)} rows of {name}, {count} target rows", expected="1 or all")
    found = [_chances(row, size) for row in rows]
    if name == "recovery":
        found = [_law(chances, row) for chances, row in zip(found, rows, strict=True)]
    return found * count if len(found) == 1 else found


def _chances(row: Row, size: int) -> Chances:
    numbers = _numbers(row)
    if len(numbers) != size:
        raise SettingsError(
            f"{len(numbers)} numbers, the target row has {size}",
            place=row.place,
            expected="one number a token",
        )
    chances = [number for number in numbers if number is not None and 0 <= number <= 1]
    if len(chances) != len(numbers):
        token = next(t for t, n in enumerate(numbers) if n is None or not 0 <= n <= 1)
        raise _out_of_range(row, token, numbers[token])
    return tuple(chances)


def _numbers(row: Row) -> list[Fraction | None]:
    """Exactly, what is no number or infinite as None."""
    if isinstance(row.values, RationalValues):
        return list(row.values.values)
    return [Fraction(value) if isfinite(value) else None for value in row_numbers(row)]


def _out_of_range(row: Row, token: int, number: Fraction | None) -> SettingsError:
    has = "no finite number" if number is None else shown(float(number))
    return SettingsError(
        f"token {token} has {has}",
        place=row.place,
        expected="numbers from 0 to 1",
        advice="a ratio above 1 accepts always, which is 1; 0/0 (a token that is never drafted, a "
        "residual that is empty) can be 0: it changes no law",
    )


def _law(chances: Chances, row: Row) -> Chances:
    """A law, or zeros; numbers of an array are weights over their sum, which was rounded."""
    total = sum(chances, Fraction(0))
    slack = _ROUNDING.get(row.numbers, Fraction(0))
    if total and abs(total - 1) > slack:
        raise SettingsError(
            f"the numbers sum to {shown(float(total))}",
            place=row.place,
            expected="a law, which sums to 1, or zeros where nothing is ever recovered",
        )
    return tuple(chance / total for chance in chances) if total else chances


def _map(value: Any) -> tuple[int, ...]:
    from specdist.readers.draft_map import read_draft_map

    if isinstance(value, Mapping):
        return read_draft_map({key: _plain(item) for key, item in value.items()}, "", "draft_map")
    return read_draft_map(_plain(value), "", "draft_map")


def _plain(value: Any) -> Any:
    """Sequences and arrays of whole numbers as lists."""
    listed = value.tolist() if hasattr(value, "tolist") else value
    return list(listed) if isinstance(listed, tuple | range) else listed
