"""The floor under the acceptance rate of a run: missed surely, or left open by what is known."""

from __future__ import annotations

from collections.abc import Collection
from fractions import Fraction

from specdist.exact.interval import Interval
from specdist.model.finding import Finding, Severity
from specdist.verify.summary import Tally
from specdist.verify.wording import interval, written

BELOW = "acceptance-below-floor"


def missed_floor(tally: Tally, floor: Fraction, allow: Collection[str]) -> list[Finding]:
    """What is said of a floor that is not surely reached; nothing where nothing was measured."""
    summary = tally.summary()
    rate, bounds = summary.acceptance_rate, summary.acceptance_bounds
    if bounds is not None:
        return [_of_bounds(bounds, tally.reaches(floor), floor, allow)]
    if rate is None:
        return []
    if tally.reaches(floor) is None:
        message = f"acceptance rate {rate.approx:.6g} and floor {written(floor)} are within"
        message += " the rounding bound of each other"
        return [Finding("undecided-precision", Severity.WARNING, message)]
    message = f"acceptance rate {rate.approx:.6g} is below the floor {written(floor)}"
    return [_below(message, allow)]


def _of_bounds(
    bounds: Interval, reached: bool | None, floor: Fraction, allow: Collection[str]
) -> Finding:
    rate = f"acceptance rate {interval(bounds)}"
    if reached is None:
        message = f"{rate}: rows known in part do not tell whether it reaches the floor "
        return Finding("truncated-row", Severity.WARNING, message + written(floor))
    return _below(f"{rate} is below the floor {written(floor)}", allow)


def _below(message: str, allow: Collection[str]) -> Finding:
    return Finding(BELOW, Severity.ERROR, message, allowed=BELOW in allow)
