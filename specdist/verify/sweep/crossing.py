"""Which values of a swept option lose a floor under the acceptance rate.

Between two values with proven, different sides there is a crossing. Where the rate is constant
between known breakpoints its place is exact; elsewhere it is narrowed to an interval between whose
ends the side changes, each end proven. Only where every cell of a piecewise constant rate was
worked out is nothing missed: elsewhere the rate may cross and come back between two values.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from fractions import Fraction

from specdist.model.sweep_crossing import Crossing, Direction, FloorAnswer, Place, Side
from specdist.verify.sweep.cells import Breakpoints, Cells, cells_of, halved, scanned, whole_cells
from specdist.verify.sweep.narrowing import narrowed
from specdist.verify.sweep.probe import Probe, Rate, RateAt, as_interval

MOST_CELLS = 200
"""Up to this many cells beyond the values of the sweep all of them are worked out."""
_COARSE_DIGITS = 4

Bracket = tuple[Fraction, Fraction]


def crossings(
    values: Sequence[Fraction],
    rates: Sequence[Rate],
    rate_at: RateAt,
    floor: Fraction,
    breakpoints: Breakpoints | None = None,
    *,
    whole: bool = False,
) -> tuple[Crossing, ...]:
    """The crossings of `floor_answer` alone."""
    return floor_answer(values, rates, rate_at, floor, breakpoints, whole=whole).crossings


def floor_answer(
    values: Sequence[Fraction],
    rates: Sequence[Rate],
    rate_at: RateAt,
    floor: Fraction,
    breakpoints: Breakpoints | None = None,
    *,
    whole: bool = False,
    most: int = MOST_CELLS,
) -> FloorAnswer:
    """Where the rate crosses the floor from the least to the largest of ``values``, in any order.

    ``rates`` are those at ``values``, exact or with their bound, and ``rate_at`` gives them
    elsewhere. ``breakpoints`` says where a piecewise constant rate may change, ``whole`` that the
    option takes whole numbers only; without either it is taken as any function of the value.
    """
    known = {v: as_interval(rate) for v, rate in zip(values, rates, strict=True)}
    grid = sorted(known)
    whole = whole and all(value.denominator == 1 for value in grid)
    probe = Probe(rate_at, floor)
    probe.tell(known)
    cells = _all_cells(grid, breakpoints, whole, most)
    complete = cells is not None and _fits(probe, grid, cells)
    found = list(scanned(probe, cells)) if cells is not None and complete else []
    if not complete:
        axis = None if cells is not None else breakpoints
        found = [_crossing(probe, bracket, axis, whole) for bracket in _brackets(probe, grid)]
    sides = [probe.side(value) for value in grid]
    return FloorAnswer(
        floor=floor,
        grid=len(grid),
        reaching=sides.count(Side.REACHES),
        below=sides.count(Side.BELOW),
        open_at=tuple(v for v, side in zip(grid, sides, strict=True) if side is Side.OPEN),
        equal_at=tuple(v for v in grid if probe.equals(v)),
        crossings=tuple(found),
        complete=complete and not _any_open(probe, cells),
        places=cells.places if cells is not None and complete else 0,
        whole=whole,
    )


def _any_open(probe: Probe, cells: Cells | None) -> bool:
    return cells is None or any(probe.side(value) is Side.OPEN for value in cells.values)


def _all_cells(
    grid: Sequence[Fraction], breakpoints: Breakpoints | None, whole: bool, most: int
) -> Cells | None:
    """The cells of the whole range, where they are known and few enough."""
    if not grid:
        return None
    if whole:
        cells = whole_cells(grid[0], grid[-1])
    elif breakpoints is None or (found := breakpoints(grid[0], grid[-1])) is None:
        return None
    else:
        cells = cells_of(grid[0], grid[-1], found)
    return cells if len(cells) <= most + len(grid) else None


def _fits(probe: Probe, grid: Sequence[Fraction], cells: Cells) -> bool:
    """Whether the rate at each value of the sweep is that of its cell: else the rate is not
    constant where it should be, and the cells prove nothing."""
    if cells.whole:
        return True
    for value in grid:
        index = bisect_left(cells.values, value)
        if index == len(cells.values) or (
            cells.values[index] != value and cells.values[index] in cells.points
        ):
            index -= 1
        mine, cell = probe.rate(value), probe.rate(cells.values[index])
        if mine.least > cell.most or mine.most < cell.least:
            return False
    return True


def _brackets(probe: Probe, grid: Sequence[Fraction]) -> list[Bracket]:
    """Neighbours on different sides, values without a proven side left out."""
    while True:
        found = list(_changes(probe, grid))
        ends = {value for bracket in found for value in bracket}
        if all(probe.confirmed(value) for value in sorted(ends)):
            return found


def _changes(probe: Probe, grid: Sequence[Fraction]) -> Iterator[Bracket]:
    last: Fraction | None = None
    for value in grid:
        if probe.side(value) is Side.OPEN:
            continue
        if last is not None and probe.side(value) is not probe.side(last):
            yield last, value
        last = value


def _crossing(
    probe: Probe, bracket: Bracket, breakpoints: Breakpoints | None, whole: bool
) -> Crossing:
    low, high = bracket
    if whole:
        return halved(probe, whole_cells(low, high))
    if breakpoints is not None:
        if breakpoints(low, high) is None:  # too many: ask again nearer to the crossing
            near = narrowed(probe, low, high, _COARSE_DIGITS)
            low, high = near.low, near.high
        points = breakpoints(low, high)
        cells = cells_of(low, high, points or ())
        if points and _fits(probe, (low, high), cells):
            return halved(probe, cells)
    return _narrowed(probe, low, high)


def _narrowed(probe: Probe, low: Fraction, high: Fraction) -> Crossing:
    falls = probe.side(low) is Side.REACHES
    direction = Direction.FALLS if falls else Direction.RISES
    found = narrowed(probe, low, high)
    before, after = probe.rate(found.low), probe.rate(found.high)
    if found.equal is None:
        ends = found.low, found.high
        return Crossing(direction, Place.BETWEEN, *ends, before, after, rounding=found.rounding)
    value = found.equal
    return Crossing(direction, Place.EQUAL, value, value, before, after, value_reaches=True)
