"""A reported number: exact where it is known, with the bound where rounding entered."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction


@dataclass(frozen=True, slots=True)
class Figure:
    """One number of a report.

    ``exact`` is the exact value of the quantity for the weights as represented, ``bound`` how far
    the quantity of the real-valued softmax may lie from it (None: no rounding entered), ``approx``
    the nearest float64, ``symbolic`` a closed form. ``exact`` is None only when the number was
    accumulated in certified fixed point because its denominator would not be useful.
    """

    approx: float
    exact: Fraction | None
    bound: Fraction | None = None
    symbolic: str | None = None

    @classmethod
    def of(
        cls, value: Fraction | int, bound: Fraction | None = None, symbolic: str | None = None
    ) -> Figure:
        value = Fraction(value)
        return cls(float(value), value, bound or None, symbolic)
