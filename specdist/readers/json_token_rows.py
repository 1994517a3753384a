"""What a position of a JSON capture says by token: kept, accepted, recovered, mapped."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any

from specdist.errors import CaptureError, RowError
from specdist.model.row import Kind, NumberFormat, PointMass, RationalValues
from specdist.readers.draft_map import UNMAPPED, read_draft_map
from specdist.readers.json_numbers import rounding_of
from specdist.readers.json_rows import RowReading, read_row
from specdist.readers.naming import shorten
from specdist.readers.strict_json import join

GIVEN_KEYS = ("accept", "recovery")
"""Rows of the rule `given`."""
TOKEN_KEYS = ("keep", *GIVEN_KEYS, "draft_map")

_ZERO, _ONE = Fraction(0), Fraction(1)


def read_keep_row(
    item: Mapping[str, Any], path: str, size: int, rows: RowReading
) -> tuple[Fraction, ...] | None:
    """The probability of each drafted token to reach the test. Raises CaptureError or RowError."""
    if item.get("keep") is None:
        return None
    return _chances(item["keep"], "a keep probability", join(path, "keep"), size, rows)


def read_given(
    item: Mapping[str, Any], path: str, size: int, rows: RowReading
) -> dict[str, tuple[Fraction, ...]]:
    """Acceptance probabilities, and the law of the recovered token. Raises CaptureError or
    RowError; the law sums to one, or is 0 everywhere where nothing is ever recovered. Numbers of a
    float format are weights over their sum, which may differ from one by their rounding."""
    given: dict[str, tuple[Fraction, ...]] = {}
    if item.get("accept") is not None:
        where = join(path, "accept")
        given["accept"] = _chances(item["accept"], "an acceptance probability", where, size, rows)
    if item.get("recovery") is not None:
        where = join(path, "recovery")
        law = _chances(item["recovery"], "a probability", where, size, rows)
        total = sum(law, _ZERO)
        if total and abs(total - _ONE) > _slack(size, rows.numbers):
            raise RowError(
                f"recovery sums to {shorten(str(total), 24)}",
                place=rows.place(where),
                expected="a law, which sums to 1, or zeros where nothing is ever recovered",
            )
        given["recovery"] = tuple(chance / total for chance in law) if total else law
    return given


def _slack(size: int, numbers: NumberFormat) -> Fraction:
    """How far the rounding of its numbers may move the sum of a law away from one."""
    return size * rounding_of(numbers)


def _chances(value: Any, what: str, path: str, size: int, rows: RowReading) -> tuple[Fraction, ...]:
    row = read_row(value, path, size, replace(rows, kind=Kind.PROBABILITIES))
    if isinstance(row.values, PointMass):
        return tuple(_ONE if token == row.values.token else _ZERO for token in range(size))
    numbers = row.values.values if isinstance(row.values, RationalValues) else ()
    chances = tuple(number for number in numbers if number is not None)
    for token, chance in enumerate(chances):
        if chance > 1:
            raise RowError(
                f"{what} above 1, {shorten(str(chance), 24)}",
                place=rows.place(f"{path}, token {token}"),
                expected="numbers from 0 to 1, one a token",
            )
    return chances


def check_draft_map(ids: tuple[int, ...], draft: int | None, size: int, place: str) -> None:
    """The map against the rows of a position: ``draft`` ids in, ``size`` target ids out; a draft
    of None has no row. Raises CaptureError naming the entry."""
    if draft is not None and len(ids) != draft:
        raise CaptureError(
            f"the draft map has {len(ids)} entries, the draft row {draft} numbers",
            place=place,
            expected="an entry for each draft id",
            advice="rows that the engine has mapped already need no map" if draft == size else "",
        )
    for index, token in enumerate(ids):
        if token != UNMAPPED and token >= size:
            raise CaptureError(
                f"entry {index} of the draft map is target id {token}",
                place=place,
                expected=f"target ids from 0 to {size - 1}, or -1",
            )


def read_map_of(item: Mapping[str, Any], path: str, file: str) -> tuple[int, ...] | None:
    """The ``draft_map`` of a capture, a step or a position; None where there is none."""
    if item.get("draft_map") is None:
        return None
    return read_draft_map(item["draft_map"], join(path, "draft_map"), file)
