"""What changed at one step: every number exactly, every doubt as a doubt.

A number is worse where it is surely worse by more than the tolerance, rounding and unknown parts
included. It is not worse where nothing that is known of it is. Between the two it is open.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import IntEnum
from fractions import Fraction

from specdist.exact.interval import Interval
from specdist.model.baseline import Measure, Reason, StepRecord, What
from specdist.model.figure import Figure
from specdist.model.verdict import Verdict
from specdist.verify import wording
from specdist.verify.baseline.record import centre_of, interval_of

_RANK = {
    Verdict.EQUAL: 0,
    Verdict.WITHIN_TOLERANCE: 1,
    Verdict.UNDECIDED: 2,
    Verdict.DIFFERENT: 3,
}
_PROVEN = (Verdict.EQUAL, Verdict.WITHIN_TOLERANCE)
_FLOAT_ERROR = Fraction(1, 2**50)
"""What two roundings to float64 can add to the difference of two numbers from 0 to 1."""
_WEIGHT = {
    What.VERDICT: 0,
    What.COVERAGE: 1,
    What.VARIATION: 2,
    What.ACCEPTANCE: 3,
    What.FINDING: 4,
}


class Change(IntEnum):
    """How a number or a step compares with what it was."""

    WORSE = 0
    OPEN = 1
    BETTER = 2
    NONE = 3


@dataclass(frozen=True, slots=True)
class Found:
    """A reason, what it makes of its step, and how much it weighs: the lowest weighs most."""

    change: Change
    reason: Reason
    weight: tuple[int, Fraction]


def changes(before: StepRecord, after: StepRecord, tolerance: Fraction) -> list[Found]:
    """Everything that changed at a step, in no order."""
    return [
        *_verdict(before.verdict, after.verdict),
        *_measures(before, after, tolerance),
        *_idents(before, after),
    ]


def _verdict(before: Verdict, after: Verdict) -> Iterator[Found]:
    if before is after:
        return
    message = f"verdict {after.value}, was {before.value}"
    reason = Reason(What.VERDICT, None, before.value, after.value, message)
    if _RANK[after] > _RANK[before]:
        yield _found(Change.WORSE, reason, Fraction(_RANK[after]))
    elif after in _PROVEN:
        yield _found(Change.BETTER, reason, Fraction(_RANK[before]))


def _idents(before: StepRecord, after: StepRecord) -> Iterator[Found]:
    for ident in sorted(after.loud - before.idents):
        reason = Reason(What.FINDING, None, None, ident, f"new finding {ident}")
        yield _found(Change.WORSE, reason)
    for ident in sorted(before.loud - after.idents):
        reason = Reason(What.FINDING, None, ident, None, f"no finding {ident} any more")
        yield _found(Change.BETTER, reason)


def _measures(before: StepRecord, after: StepRecord, tolerance: Fraction) -> Iterator[Found]:
    known = {(item.what, item.position): item for item in before.measures}
    now = {(item.what, item.position): item for item in after.measures}
    for position in dict.fromkeys(item.position for item in before.measures):
        if all(item.position != position for item in after.measures):
            message = f"{_part(position)} not checked any more"
            yield _found(Change.WORSE, Reason(What.COVERAGE, position, "checked", None, message))
    for key in known.keys() & now.keys():
        found = _compared(known[key], now[key], tolerance)
        if found is not None:
            yield found


def _part(position: int | None) -> str:
    if position is None:
        return "figures of the step as a whole are"
    return "the bonus row is" if position < 0 else f"position {position} is"


def _compared(before: Measure, after: Measure, tolerance: Fraction) -> Found | None:
    rising = before.what is What.ACCEPTANCE
    change, size = compared(before.value, after.value, tolerance, rising)
    if change is Change.NONE:
        return None
    up = (change is Change.BETTER) is rising
    text = f"{before.what.value} {_text(after.value)}, was {_text(before.value)}"
    if change is Change.OPEN:
        text += f", perhaps {'higher' if up else 'lower'} by more than the tolerance"
    elif size:
        text += f" ({'higher' if up else 'lower'} by {wording.written(size)})"
    reason = Reason(before.what, before.position, before.value, after.value, text)
    return _found(change, reason, size)


def compared(
    before: Figure | Interval, after: Figure | Interval, tolerance: Fraction, rising: bool
) -> tuple[Change, Fraction]:
    """How a number compares with what it was, and by how much at least it moved (0 where that is
    open). ``rising``: the higher the better."""
    was, now = interval_of(before), interval_of(after)
    loss = was - now if rising else now - was
    if loss.least > tolerance:
        return Change.WORSE, loss.least
    if not _seems_worse(before, after, was, now, tolerance, rising):
        return (Change.BETTER, -loss.most) if loss.most < 0 else (Change.NONE, Fraction(0))
    return Change.OPEN, Fraction(0)


def _seems_worse(
    before: Figure | Interval,
    after: Figure | Interval,
    was: Interval,
    now: Interval,
    tolerance: Fraction,
    rising: bool,
) -> bool:
    """Whether anything that is known of the number is worse: the number as it is represented, or
    an end of the interval it lies in."""
    if isinstance(before, Figure) and isinstance(after, Figure):
        if before.exact is None or after.exact is None:
            moved = Fraction(before.approx) - Fraction(after.approx)
            return (moved if rising else -moved) > tolerance + _FLOAT_ERROR
        moved = centre_of(before) - centre_of(after)
        return (moved if rising else -moved) > tolerance
    pairs = ((was.least, now.least), (was.most, now.most))
    return any((old - new if rising else new - old) > tolerance for old, new in pairs)


def _text(value: Figure | Interval) -> str:
    return wording.interval(value) if isinstance(value, Interval) else wording.figure(value)


def _found(change: Change, reason: Reason, size: Fraction = Fraction(0)) -> Found:
    return Found(change, reason, (_WEIGHT[reason.what], -size))
