"""The exact acceptance at the first position of the steps of a run."""

from __future__ import annotations

from fractions import Fraction

from specdist.exact.interval import Interval
from specdist.model.figure import Figure
from specdist.model.report import StepResult
from specdist.verify.counters.comparison import FirstPositions

_UNIT = 1 << 200
_NOTHING = FirstPositions(0, Interval.of(0), Interval.of(0))


class FirstTally:
    """Adds up first positions; sums with long denominators are rounded outwards to multiples of
    2**-200."""

    def __init__(self) -> None:
        self.found = _NOTHING

    def add(self, step: StepResult) -> None:
        """Takes one finished step; a step over models or a batch has no rows of one position."""
        first = _rates(step)
        if first is None:
            return
        expected, possible = first
        self.found = FirstPositions(
            self.found.count + 1,
            _short(self.found.expected + expected),
            _short(self.found.possible + possible),
        )


def _rates(step: StepResult) -> tuple[Interval, Interval] | None:
    if step.positions and step.positions[0].index == 0:
        position = step.positions[0]
        return _interval(position.acceptance_rate), _interval(position.reference_acceptance_rate)
    if step.bounded and step.bounded[0].index == 0:
        part = step.bounded[0]
        return part.acceptance_rate, part.reference_acceptance_rate
    return None


def _interval(figure: Figure) -> Interval:
    value = figure.exact if figure.exact is not None else Fraction(figure.approx)
    bound = figure.bound or Fraction(0)
    return Interval(value - bound, value + bound).within(Fraction(0), Fraction(1))


def _short(sum_: Interval) -> Interval:
    least, most = sum_.least, sum_.most
    if max(least.denominator, most.denominator) <= _UNIT:
        return sum_
    return Interval(
        Fraction(least.numerator * _UNIT // least.denominator, _UNIT),
        Fraction(-(-most.numerator * _UNIT // most.denominator), _UNIT),
    )
