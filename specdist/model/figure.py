"""A reported number: exact where it is known, with the bound where rounding entered."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction

Parts = tuple[tuple[Fraction, float], ...]
"""A number as ``sum of factor * float``, not worked out yet."""


class Figure:
    """One number of a report.

    ``exact`` is the exact value of the quantity for the weights as represented, ``bound`` how far
    the quantity of the real-valued softmax may lie from it (None: no rounding entered), ``approx``
    the nearest float64, ``symbolic`` a closed form. ``exact`` is None only when the number was
    accumulated in certified fixed point because its denominator would not be useful.

    Most figures of a long run are never printed, so `deferred` keeps one as the parts of a sum and
    works it out when it is asked for.
    """

    __slots__ = ("_approx", "_divisor", "_exact", "_parts", "bound", "symbolic")

    def __init__(
        self,
        approx: float,
        exact: Fraction | None,
        bound: Fraction | None = None,
        symbolic: str | None = None,
    ) -> None:
        self._approx: float | None = approx
        self._exact = exact
        self._parts: Parts | None = None
        self._divisor: Fraction | None = None
        self.bound = bound
        self.symbolic = symbolic

    @classmethod
    def of(
        cls, value: Fraction | int, bound: Fraction | None = None, symbolic: str | None = None
    ) -> Figure:
        value = Fraction(value)
        return cls(float(value), value, bound or None, symbolic)

    @classmethod
    def deferred(
        cls, parts: Parts, bound: Fraction | None, divisor: Fraction | None = None
    ) -> Figure:
        """``sum of factor * float`` over the parts, divided by ``divisor`` if there is one."""
        figure = cls(0.0, None, bound)
        figure._approx = None
        figure._parts = parts
        figure._divisor = divisor
        return figure

    @property
    def exact(self) -> Fraction | None:
        if self._exact is None and self._parts is not None:
            value = _sum(factor * Fraction(number) for factor, number in self._parts)
            self._exact = value / self._divisor if self._divisor is not None else value
        return self._exact

    @property
    def approx(self) -> float:
        if self._approx is None:
            self._approx = float(self.exact or 0)
        return self._approx

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Figure):
            return NotImplemented
        mine = (self.exact, self.approx, self.bound, self.symbolic)
        return mine == (other.exact, other.approx, other.bound, other.symbolic)

    def __hash__(self) -> int:
        return hash((self.exact, self.bound))

    def __repr__(self) -> str:
        shown = f"approx={self.approx!r}, exact={self.exact!r}, bound={self.bound!r}"
        return f"Figure({shown}, symbolic={self.symbolic!r})"


def _sum(values: Iterable[Fraction]) -> Fraction:
    first, *more = [*values] or [Fraction(0)]
    return sum(more, first)
