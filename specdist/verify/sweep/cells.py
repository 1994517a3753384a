"""An option along which the rate is constant between known places: breakpoints, whole numbers.

The places and the stretches between them are cells. The rate is worked out at one value of each
cell, or, where there are too many, of those that halving comes to.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

from specdist.model.sweep_crossing import Crossing, Direction, Place, Side
from specdist.verify.sweep.narrowing import simplest
from specdist.verify.sweep.probe import Probe

Breakpoints = Callable[[Fraction, Fraction], Sequence[Fraction] | None]
"""Every value from the first to the second argument at which the rate may change, rising; between
two of them it must be constant. None: not known there."""


@dataclass(frozen=True, slots=True)
class Cells:
    """One value a cell, rising. ``points`` tells which of them are breakpoints; the others stand
    for all values between their neighbours. Of whole numbers every one is a cell."""

    values: Sequence[Fraction]
    points: frozenset[Fraction]
    whole: bool = False

    def __len__(self) -> int:
        return len(self.values)

    @property
    def places(self) -> int:
        """How many values there are at which the rate may change."""
        return len(self.values) if self.whole else len(self.points)


def whole_cells(low: Fraction, high: Fraction) -> Cells:
    """The whole numbers from one to another."""
    numbers = range(-(-low // 1), high // 1 + 1)
    return Cells(_Whole(numbers), frozenset(), whole=True)


class _Whole(Sequence[Fraction]):
    """A range as fractions, however long."""

    def __init__(self, numbers: range) -> None:
        self._numbers = numbers

    def __len__(self) -> int:
        return len(self._numbers)

    def __getitem__(self, index):  # type: ignore[no-untyped-def]
        if isinstance(index, slice):
            return _Whole(self._numbers[index])
        return Fraction(self._numbers[index])


def cells_of(low: Fraction, high: Fraction, breakpoints: Sequence[Fraction]) -> Cells:
    """The cells from ``low`` to ``high``: breakpoints, and a value between any two of them."""
    points = sorted({point for point in breakpoints if low <= point <= high})
    values: list[Fraction] = []
    before = low
    for point in points:
        if point > before:
            values.append(before if before == low and not values else _between(before, point))
        values.append(point)
        before = point
    if not points or points[-1] < high:
        values.append(high)
    return Cells(values, frozenset(points))


def _between(low: Fraction, high: Fraction) -> Fraction:
    """A short value strictly between two."""
    third = (high - low) / 3
    return simplest(low + third, high - third)


def scanned(probe: Probe, cells: Cells) -> Iterator[Crossing]:
    """The changes of side from cell to cell, every cell worked out."""
    last: int | None = None
    for index, value in enumerate(cells.values):
        side = probe.side(value)
        if side is Side.OPEN:
            continue
        if last is not None and side is not probe.side(cells.values[last]):
            yield crossing_of(probe, cells, last, index)
        last = index


def halved(probe: Probe, cells: Cells) -> Crossing:
    """One change of side, where the first and the last cell are on different sides."""
    values = cells.values
    start, end = probe.side(values[0]), probe.side(values[-1])
    low, high = _edge(probe, values, 0, len(values) - 1, lambda side: side is start)
    if probe.side(values[high]) is Side.OPEN:
        inner, high = _edge(probe, values, high, len(values) - 1, lambda side: side is not end)
        low = inner if probe.side(values[inner]) is start else low
    return crossing_of(probe, cells, low, high)


def _edge(
    probe: Probe,
    values: Sequence[Fraction],
    low: int,
    high: int,
    holds: Callable[[Side], bool],
) -> tuple[int, int]:
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if holds(probe.side(values[middle])) else (low, middle)
    return low, high


def crossing_of(probe: Probe, cells: Cells, first: int, second: int) -> Crossing:
    """The change between two cells, between which no side is proven."""
    low, high = cells.values[first], cells.values[second]
    direction = Direction.FALLS if probe.side(low) is Side.REACHES else Direction.RISES
    before, after = probe.rate(low), probe.rate(high)
    if second - first > 1:
        return Crossing(direction, Place.BETWEEN, low, high, before, after, rounding=True)
    if cells.whole:
        return Crossing(direction, Place.WHOLE, low, high, before, after)
    point = low if low in cells.points else high
    reaches = probe.side(point) is Side.REACHES
    return Crossing(direction, Place.JUMP, point, point, before, after, reaches)
