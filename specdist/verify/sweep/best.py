"""Which setting is best, and how many have each verdict."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction

from specdist.exact.interval import Interval
from specdist.model.figure import Figure
from specdist.model.sweep import Best, SweepPoint, VerdictCount
from specdist.model.verdict import Verdict

Number = Figure | Interval | None
_RIGHT = (Verdict.EQUAL, Verdict.WITHIN_TOLERANCE)


def _rate(point: SweepPoint) -> Number:
    bounds = point.summary.acceptance_bounds
    return point.summary.acceptance_rate if bounds is None else bounds


_BY: tuple[tuple[str, Callable[[SweepPoint], Number]], ...] = (
    ("walltime factor", lambda point: point.worth.walltime_factor),
    ("expected tokens", lambda point: point.worth.expected_tokens),
    ("acceptance rate", _rate),
)


def best_of(points: Sequence[SweepPoint]) -> Best | None:
    """The setting of largest walltime factor among those whose output law is right; where costs do
    not tell, of most expected tokens, and where rows do not, of largest acceptance rate. The first
    of equals. None where no law is right, or no number is known."""
    right = [i for i, point in enumerate(points) if point.verdict in _RIGHT]
    for name, number in _BY:
        ends = {i: _ends(number(points[i])) for i in right}
        known = {i: end for i, end in ends.items() if end is not None}
        if not right or len(known) < len(right):
            continue
        first = max(right, key=lambda i: (known[i].least + known[i].most, -i))
        rivals = [i for i in right if i != first and known[i].most >= known[first].least]
        settled = known[first].closed and all(known[i] == known[first] for i in rivals)
        return Best(first, name, tuple(rivals), settled or not rivals)
    return None


def counts_of(points: Sequence[SweepPoint]) -> tuple[VerdictCount, ...]:
    """How many settings have each verdict that is met, and the first of them."""
    verdicts = [point.verdict for point in points]
    return tuple(
        VerdictCount(verdict, verdicts.count(verdict), verdicts.index(verdict))
        for verdict in Verdict
        if verdict in verdicts
    )


def _ends(number: Number) -> Interval | None:
    if number is None or isinstance(number, Interval):
        return number
    slack = number.bound or Fraction(0)
    middle = number.exact
    if middle is None:
        middle, slack = Fraction(number.approx), slack + Fraction(1, 1 << 40)
    return Interval(middle - slack, middle + slack)
