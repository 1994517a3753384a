"""Proposed tokens that were never submitted: what a pruning rule compares with its threshold."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from specdist.verify.replay.engine_model import Pruning
from specdist.verify.replay.recorded_rows import RowLaw


def measured(measure: str, law: RowLaw, token: int, index: int) -> Fraction:
    """The number that decides; a token is kept where it is at or above the threshold.

    own-probability  q(x) of the token itself; the one measure that looks at it
    top-probability  max q of its row
    draft-entropy    -H of its row, in nats (rounded)
    position         -i
    """
    if measure == "own-probability":
        return law.probability(token)
    if measure == "position":
        return Fraction(-index)
    import numpy as np

    _, shares = law.floats()
    if measure == "top-probability":
        return Fraction(float(shares.max()))
    positive = shares[shares > 0.0]
    return Fraction(float((positive * np.log(positive)).sum()))


def keep_text(pruning: Pruning, index: int) -> str:
    """The keep rule of the check that does the same at position ``index``."""
    if pruning.measure == "position":
        return f"share:{int(-index >= pruning.threshold)}"
    return f"{pruning.measure}:{abs(pruning.threshold)}"


@dataclass(slots=True)
class Ends:
    """By one measure: the largest number of a dropped token, and the smallest of a kept one."""

    dropped: Fraction | None = None
    kept: Fraction | None = None

    def add(self, value: Fraction, kept: bool) -> None:
        """Takes in one proposed token."""
        if kept:
            self.kept = value if self.kept is None else min(self.kept, value)
        else:
            self.dropped = value if self.dropped is None else max(self.dropped, value)

    @property
    def apart(self) -> bool:
        """Whether every dropped token lies below every kept one, and there are both."""
        if self.dropped is None or self.kept is None:
            return False
        return self.dropped < self.kept


def simplest_between(low: Fraction, high: Fraction) -> Fraction:
    """The number above ``low`` and up to ``high`` with the fewest decimal digits, the smallest of
    them in size; a threshold is usually written so. ``low < high``, of one sign."""
    if high <= 0:
        return -_simplest(-high, -low, closed=True)
    return _simplest(low, high, closed=False)


def _simplest(low: Fraction, high: Fraction, closed: bool) -> Fraction:
    for digits in range(60):
        scale = 10**digits
        above = -(-low.numerator * scale // low.denominator)
        candidate = Fraction(above, scale)
        if candidate == low and not closed:
            candidate += Fraction(1, scale)
        if candidate < high or (candidate == high and not closed):
            return candidate
    return low if closed else high
