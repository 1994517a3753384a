"""Uniform numbers as a generator makes them: k / 2^bits, and what a run has learned of one.

An `Atom` is one such number. It is never drawn: a comparison asks on which side it lies, and the
answer narrows the interval of grid points that it can still be. All points of the grid have the
same probability (numpy and torch: k = 0 .. 2^bits - 1; see the grid of each generator).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Any

from specdist.audit.refusals import NotAFunctionError
from specdist.audit.tree import Session

MOST_LEVELS = 64
"""How many values a whole number made of one uniform may take."""


@dataclass(frozen=True, slots=True)
class Grid:
    """The points (k + shift) / 2^bits for k = 0 .. 2^bits - 1; ``shift`` 1 for generators on
    (0, 1]."""

    bits: int
    shift: int = 0

    @property
    def size(self) -> int:
        """How many points there are."""
        return 1 << self.bits

    def value(self, k: int) -> Fraction:
        """The k-th point."""
        return Fraction(k + self.shift, self.size)

    def number(self, k: int) -> float:
        """The k-th point as a float, as exact as a float64 can be."""
        return (k + self.shift) / (1 << self.bits)

    def __str__(self) -> str:
        begin = "(0, 1]" if self.shift else "[0, 1)"
        return f"k/2^{self.bits} on {begin}"


FLOAT32 = Grid(24)
"""torch.rand in float32 on the CPU (ATen/core/TransformationHelper.h, uniform_real)."""
FLOAT64 = Grid(53)
"""torch.rand in float64, numpy's random(), random.random()."""
FLOAT16 = Grid(11)
BFLOAT16 = Grid(8)
JAX_FLOAT32 = Grid(23)


class TooManyLevelsError(OverflowError):
    """A whole number made of one uniform takes too many values."""


class Atom:
    """One uniform number: a grid, and the points [least, most) that it can still be. ``raced`` is
    the race that it is noise of, if any: then it is compared with no number."""

    __slots__ = ("grid", "least", "most", "name", "raced", "session")

    def __init__(self, session: Session, grid: Grid, name: str) -> None:
        self.session, self.grid, self.name = session, grid, name
        self.least, self.most = 0, grid.size
        self.raced: object = None

    @property
    def untouched(self) -> bool:
        """Whether nothing was decided about the number yet."""
        return self.most - self.least == self.grid.size

    def below(self, k: int) -> bool:
        """Whether the number is one of the first ``k`` points: decided here, if it is open."""
        self._of_this_run()
        if k <= self.least:
            return False
        if k >= self.most:
            return True
        mass = Fraction(k - self.least, self.most - self.least)
        if self.session.choose(f"{self.name} below point {k}", (mass, 1 - mass)) == 0:
            self.most = k
            return True
        self.least = k
        return False

    def decide(self, holds: Callable[[int], bool]) -> bool:
        """A monotone statement about the number: ``holds(k)`` for the k-th point changes at most
        once as k grows. Found by bisection, then decided."""
        self._of_this_run()
        first, last = holds(self.least), holds(self.most - 1)
        if first == last:
            return first
        low, high = self.least, self.most - 1  # holds(low) is first, holds(high) is last
        known = self._laid()
        if len(known) == 2 and holds(known[1] - 1) == first and holds(known[1]) == last:
            low, high = known[1] - 1, known[1]
        while high - low > 1:
            middle = (low + high) // 2
            if holds(middle) == first:
                low = middle
            else:
                high = middle
        return first if self.below(high) else last

    def piece(self, level: Callable[[int], Any]) -> Any:
        """A monotone function of the number that takes few values: which one it has, decided.

        Raises TooManyLevelsError for more than `MOST_LEVELS` values.
        """
        self._of_this_run()
        starts = self._laid()
        ends = [*starts[1:], self.most]
        if not starts or not _are_levels(level, starts, ends):
            starts = [self.least]
            first, last = level(self.least), level(self.most - 1)
            _split(level, (self.least, first), (self.most - 1, last), starts)
            ends = [*starts[1:], self.most]
            if len(starts) == 1:
                return first
        size = self.most - self.least
        masses = [Fraction(end - start, size) for start, end in zip(starts, ends, strict=True)]
        taken = self.session.choose(f"{self.name} between points {starts[1:]}", tuple(masses))
        self.least, self.most = starts[taken], ends[taken]
        return level(self.least)

    def _laid(self) -> list[int]:
        """The first points of the pieces that an earlier run found here, if it decided about a
        number with as many points: a guess that spares the search."""
        starts, size = [self.least], self.most - self.least
        for mass in self.session.laid[:-1]:
            step = mass * size
            if step.denominator != 1 or not step:
                return []
            starts.append(starts[-1] + step.numerator)
        return starts if len(starts) > 1 else []

    def _of_this_run(self) -> None:
        if self.session.ended:
            raise NotAFunctionError.of_state(self.name)


def _are_levels(level: Callable[[int], Any], starts: list[int], ends: list[int]) -> bool:
    """Whether a monotone function is constant on every piece, and changes between them."""
    values = [level(start) for start in starts]
    same = all(level(end - 1) == value for end, value in zip(ends, values, strict=True))
    return same and all(a != b for a, b in pairwise(values))


def _split(
    level: Callable[[int], Any], low: tuple[int, Any], high: tuple[int, Any], starts: list[int]
) -> None:
    """Adds to ``starts`` the first point of every further level, in rising order."""
    if low[1] == high[1]:
        return
    if len(starts) >= MOST_LEVELS:
        raise TooManyLevelsError(f"more than {MOST_LEVELS} values")
    if high[0] - low[0] == 1:
        starts.append(high[0])
        return
    middle = (low[0] + high[0]) // 2
    between = (middle, level(middle))
    _split(level, low, between, starts)
    _split(level, between, high, starts)
