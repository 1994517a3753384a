"""A kernel under test, called with Python rows: acceptance and recovered law of each position."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from math import inf
from typing import Any

from specdist.errors import SettingsError
from specdist.model.row import Kind, PointMass, RationalValues, Row
from specdist.python_arrays import array_shape, dtype_name, is_array
from specdist.python_rows import python_capture, shown

Pairs = list[tuple[Any, Any]]


def kept(source: Any) -> Any:
    """The value itself; what can be iterated only once as a list."""
    return source if is_array(source) or not isinstance(source, Iterable) else _listed(source)


def _listed(source: Iterable[Any]) -> Any:
    return source if isinstance(source, str | bytes | list | tuple) else list(source)


def row_pairs(target: Any, draft: Any, kind: Kind) -> Pairs:
    """What a kernel is called with, position by position: rows of arrays as they are, exact rows as
    lists of Fractions (minus infinity as a float), drafted token ids as they are.

    Raises SettingsError for what holds no rows.
    """
    positions = [step.positions[0] for step in python_capture(target, draft, kind).steps()]
    targets = _as_given(target, [position.target for position in positions])
    drafts = _as_given(draft, [position.draft for position in positions])
    return list(zip(targets, drafts, strict=True))


def _as_given(source: Any, rows: list[Row]) -> list[Any]:
    return [_of_row(source, row, index) for index, row in enumerate(rows)]


def _of_row(source: Any, row: Row, index: int) -> Any:
    if isinstance(row.values, PointMass):
        return row.values.token
    if isinstance(row.values, RationalValues):
        return [-inf if value is None else value for value in row.values.values]
    return source if is_array(source) and len(array_shape(source)) == 1 else source[index]


def unzipped(answers: Iterable[Any]) -> tuple[list[Any], list[Any]]:
    """The acceptance probabilities and the recovered laws of all positions, from what a kernel
    returned. Raises SettingsError for an answer that is no pair."""
    accepts, recoveries = [], []
    for answer in answers:
        if not isinstance(answer, tuple | list) or len(answer) != 2:
            raise SettingsError(
                f"the sampler returned {shown(answer)}",
                expected="a pair: the acceptance probability of every token, and the law of the "
                "recovered token",
            )
        accepts.append(answer[0])
        recoveries.append(answer[1])
    return accepts, recoveries


def unit_of(values: Iterable[Any]) -> tuple[str, Fraction] | None:
    """The coarsest number format among arrays and lists of arrays, and half the distance of its
    numbers from 1 to the next larger; None without arrays."""
    found: list[tuple[Fraction, str]] = []
    for value in values:
        for item in value if isinstance(value, list | tuple) else [value]:
            name = dtype_name(item) if is_array(item) else ""
            if name in _PRECISION:
                found.append((Fraction(1, 2 ** _PRECISION[name]), name))
    if not found:
        return None
    unit, name = max(found)
    return name, unit


_PRECISION = {"float16": 11, "bfloat16": 8, "float32": 24, "float64": 53}
