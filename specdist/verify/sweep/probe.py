"""The rate at single values of a swept option, and on which side of a floor it is."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction

from specdist.exact.interval import Interval
from specdist.model.sweep_crossing import Side

Rate = Fraction | Interval
RateAt = Callable[[Fraction], Rate]


def as_interval(rate: Rate) -> Interval:
    """A rate with its rounding bound; one number where it is exact."""
    return rate if isinstance(rate, Interval) else Interval.of(rate)


def side_of(rate: Interval, floor: Fraction) -> Side:
    """Where a rate is for certain: to reach a floor is ``>=``."""
    if rate.least >= floor:
        return Side.REACHES
    return Side.BELOW if rate.most < floor else Side.OPEN


class Probe:
    """Rates by value, each worked out once. Rates that were told are of a whole check, and are
    worked out anew before a claim rests on them: see `rate.acceptance`."""

    def __init__(self, rate_at: RateAt, floor: Fraction) -> None:
        self.floor = floor
        self._rate_at = rate_at
        self._known: dict[Fraction, Interval] = {}
        self._told: set[Fraction] = set()

    def tell(self, known: Mapping[Fraction, Interval]) -> None:
        """Takes rates that are known already."""
        self._known.update(known)
        self._told.update(known)

    def confirmed(self, value: Fraction) -> bool:
        """Whether the rate at a value, worked out here, is the one that was told."""
        if value not in self._told:
            return True
        self._told.remove(value)
        told = self._known.pop(value)
        return self.rate(value) == told

    def rate(self, value: Fraction) -> Interval:
        """The rate at a value."""
        if value not in self._known:
            self._known[value] = as_interval(self._rate_at(value))
        return self._known[value]

    def side(self, value: Fraction) -> Side:
        """The side of the rate at a value."""
        return side_of(self.rate(value), self.floor)

    def excess(self, value: Fraction) -> Fraction:
        """About how far the rate is above the floor."""
        rate = self.rate(value)
        return (rate.least + rate.most) / 2 - self.floor

    def equals(self, value: Fraction) -> bool:
        """Whether the rate is the floor, exactly."""
        return self.rate(value) == Interval.of(self.floor)
