"""The highest point under some planes over the unit square: the master problem of cutting planes.

A concave function of two variables lies below the planes that touch it. `highest` finds the
largest height that some planes leave, with the simplex method (Bland's rule), in whatever numbers
the planes are given: exactly for fractions, roughly for floats.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any, Generic, NamedTuple, TypeVar

Number = TypeVar("Number", float, Fraction)

_Line = list[Any]

_PIVOTS = 200
"""Fractions need a few dozen at most; rounded numbers might go round in circles."""


class Plane(NamedTuple, Generic[Number]):
    """``height + x_slope x + y_slope y``."""

    height: Number
    x_slope: Number
    y_slope: Number


class Summit(NamedTuple, Generic[Number]):
    """Where the lowest plane is highest, how high, and with which weights (summing to one) the
    planes prove it."""

    x: Number
    y: Number
    height: Number
    weights: tuple[Number, ...]


def highest(planes: Sequence[Plane[Number]]) -> Summit[Number]:
    """The maximum over ``0 <= x, y <= 1`` of the lowest plane."""
    base = min(plane.height for plane in planes)
    *table, goal = _tableau(planes, base)
    cost = [-value for value in goal]
    basis = _solved(table, cost, list(range(3, len(table) + 3)))
    found = {column: line[-1] for column, line in zip(basis, table, strict=True)}
    zero = base - base
    x, y, height = (found.get(column, zero) for column in range(3))
    return Summit(x, y, base + height, tuple(cost[3 : 3 + len(planes)]))


def _tableau(planes: Sequence[Plane[Any]], base: Any) -> list[_Line]:
    """The columns x, y, height, a slack for each line, and the limit. The last line is the goal."""
    zero = base - base
    one = zero + 1
    lines = [[-plane.x_slope, -plane.y_slope, one, plane.height - base] for plane in planes]
    lines += [[one, zero, zero, one], [zero, one, zero, one]]
    count = len(lines)
    table = []
    for i, line in enumerate(lines):
        slack = [zero] * count
        slack[i] = one
        table.append([*line[:3], *slack, line[3]])
    return [*table, [zero, zero, one] + [zero] * (count + 1)]


def _solved(table: list[_Line], cost: _Line, basis: list[int]) -> list[int]:
    """Pivots until no cost is negative. Returns the basis; table and cost are worked on."""
    small = 1e-13 if isinstance(cost[0], float) else 0
    for _ in range(_PIVOTS):
        entering = next((j for j in range(len(cost) - 1) if cost[j] < -small), None)
        if entering is None:
            break
        options = [(i, line) for i, line in enumerate(table) if line[entering] > small]
        if not options:
            break
        leaving = min((line[-1] / line[entering], basis[i], i) for i, line in options)[2]
        _pivot(table, cost, leaving, entering)
        basis[leaving] = entering
    return basis


def _pivot(table: list[_Line], cost: _Line, leaving: int, entering: int) -> None:
    pivot = table[leaving][entering]
    row = [value / pivot for value in table[leaving]]
    table[leaving] = row
    _eliminate(cost, row, cost[entering])
    for i, line in enumerate(table):
        if i != leaving:
            _eliminate(line, row, line[entering])


def _eliminate(line: _Line, row: _Line, factor: Any) -> None:
    if factor:
        for j, value in enumerate(row):
            if value:
                line[j] -= factor * value
