"""What is said by token beside Python rows: kept, accepted, recovered, mapped to target ids."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any

from specdist.errors import SettingsError
from specdist.model.capture import Capture, Step
from specdist.model.options import ProcessingOptions
from specdist.model.row import FloatValues, Kind, RationalValues, Row
from specdist.python_rows import python_rows, shown

Chances = tuple[Fraction, ...]
GIVEN = ("accept", "recovery")
"""Rows of the rule `given`."""

_ROUNDING = Fraction(1, 2**10)
"""How far the rounded numbers of a float16 law may be from summing to one."""


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
    if isinstance(row.values, FloatValues):
        numbers = [Fraction(float(value)) for value in row.values.array]
    elif isinstance(row.values, RationalValues):
        numbers = [Fraction(-1) if value is None else value for value in row.values.values]
    else:
        raise TypeError("a point mass holds no numbers by token")
    if len(numbers) != size:
        raise SettingsError(
            f"{len(numbers)} numbers, the target row has {size}",
            place=row.place,
            expected="one number a token",
        )
    for token, number in enumerate(numbers):
        if not 0 <= number <= 1:
            raise SettingsError(
                f"token {token} has {shown(float(number))}",
                place=row.place,
                expected="numbers from 0 to 1",
            )
    return tuple(numbers)


def _law(chances: Chances, row: Row) -> Chances:
    """A law, or zeros; numbers of an array are weights over their sum, which was rounded."""
    total = sum(chances, Fraction(0))
    slack = _ROUNDING if isinstance(row.values, FloatValues) else 0
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
