"""A number that is known to lie between two others."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction


@dataclass(frozen=True, slots=True)
class Interval:
    """Every real number from ``least`` to ``most``. The ends are proven: exact, or rounded
    outwards. Raises ValueError where ``least`` is above ``most``."""

    least: Fraction
    most: Fraction

    def __post_init__(self) -> None:
        if self.least > self.most:
            raise ValueError(f"an interval from {self.least} down to {self.most}")

    @classmethod
    def of(cls, value: Fraction | int) -> Interval:
        """The interval that holds one number only."""
        return cls(Fraction(value), Fraction(value))

    @property
    def closed(self) -> bool:
        """Whether one number is left."""
        return self.least == self.most

    @property
    def width(self) -> Fraction:
        return self.most - self.least

    def __contains__(self, value: Fraction) -> bool:
        return self.least <= value <= self.most

    def __add__(self, other: Interval) -> Interval:
        return Interval(self.least + other.least, self.most + other.most)

    def __neg__(self) -> Interval:
        return Interval(-self.most, -self.least)

    def __sub__(self, other: Interval) -> Interval:
        return self + -other

    def within(self, least: Fraction, most: Fraction) -> Interval:
        """The part from ``least`` to ``most``, for a number that is known to lie there."""
        return Interval(min(max(self.least, least), most), max(min(self.most, most), least))

    def hull(self, other: Interval) -> Interval:
        """The least interval that holds both."""
        return Interval(min(self.least, other.least), max(self.most, other.most))
