"""Which number of a sweep a picture shows, from 0 to a full bar."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from specdist.exact.interval import Interval
from specdist.model.figure import Figure
from specdist.model.sweep import SweepPoint, SweepReport

Number = Figure | Interval | None
_LENGTH = "draft-length"


@dataclass(frozen=True, slots=True)
class Measure:
    """``numbers`` are those of the points; ``most`` is what fills a bar."""

    name: str
    numbers: tuple[Number, ...]
    most: float

    @property
    def is_rate(self) -> bool:
        """Whether the numbers go from 0 to 1."""
        return self.name == "acceptance rate"

    @property
    def short(self) -> str:
        """The name as the column of a table has it."""
        return self.name.split()[-1]

    def share(self, index: int) -> float | None:
        """The number of a point as part of a full bar: of an interval the lower end."""
        value = height(self.numbers[index])
        return None if value is None else min(1.0, value / self.most)


def measure_of(report: SweepReport) -> Measure:
    """The acceptance rate. Draft lengths do not change it over rows of single positions: where they
    are swept, the walltime factor, or without costs the expected tokens of a step."""
    names = [axis.name for axis in report.axes]
    if _LENGTH in names:
        for name, numbers in (
            ("walltime factor", tuple(point.worth.walltime_factor for point in report.points)),
            ("expected tokens", tuple(point.worth.expected_tokens for point in report.points)),
        ):
            tops = [top(number) for number in numbers]
            known = [value for value in tops if value is not None]
            if len(known) == len(numbers) and max(known) > 0:
                return Measure(name, numbers, max(known))
    return Measure("acceptance rate", tuple(map(rate_of, report.points)), 1.0)


def rate_of(point: SweepPoint) -> Number:
    """The acceptance rate, an interval where rows are known in part."""
    return point.summary.acceptance_bounds or point.summary.acceptance_rate


def variation_of(point: SweepPoint) -> Number:
    """The largest total variation, an interval where rows are known in part."""
    return point.summary.variation_bounds or point.summary.total_variation_max


def height(number: Number) -> float | None:
    """Where a number is drawn: of an interval the lower end."""
    if number is None:
        return None
    return float(number.least) if isinstance(number, Interval) else number.approx


def top(number: Number) -> float | None:
    """The upper end of an interval, else the number."""
    return float(number.most) if isinstance(number, Interval) else height(number)


def hundredths(number: Figure | Interval) -> int:
    """A number in hundredths, rounded down."""
    if isinstance(number, Interval):
        return math.floor(number.least * 100)
    exact = Fraction(number.approx) if number.exact is None else number.exact
    return math.floor(exact * 100)
