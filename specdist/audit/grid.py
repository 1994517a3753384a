"""Uniform numbers as a generator makes them: k / 2^bits, and what a run has learned of one.

An `Atom` is one such number. It is never drawn: a comparison asks on which side it lies, and the
answer narrows the interval of grid points that it can still be. All points of the grid have the
same probability (numpy and torch: k = 0 .. 2^bits - 1; see the grid of each generator).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

from specdist.audit.tree import Session


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


class Atom:
    """One uniform number: a grid, and the points [least, most) that it can still be."""

    __slots__ = ("grid", "least", "most", "name", "session")

    def __init__(self, session: Session, grid: Grid, name: str) -> None:
        self.session, self.grid, self.name = session, grid, name
        self.least, self.most = 0, grid.size

    def below(self, k: int) -> bool:
        """Whether the number is one of the first ``k`` points: decided here, if it is open."""
        if k <= self.least:
            return False
        if k >= self.most:
            return True
        size = self.most - self.least
        mass = Fraction(k - self.least, size)
        if self.session.choose(f"{self.name} below point {k}", (mass, 1 - mass)) == 0:
            self.most = k
            return True
        self.least = k
        return False

    def decide(self, holds: Callable[[int], bool]) -> bool:
        """A monotone statement about the number: ``holds(k)`` for the k-th point changes at most
        once as k grows. Found by bisection, then decided."""
        first, last = holds(self.least), holds(self.most - 1)
        if first == last:
            return first
        low, high = self.least, self.most - 1  # holds(low) is first, holds(high) is last
        while high - low > 1:
            middle = (low + high) // 2
            if holds(middle) == first:
                low = middle
            else:
                high = middle
        return first if self.below(high) else last
