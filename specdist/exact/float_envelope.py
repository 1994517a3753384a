"""The largest ratio of two float64 vectors.

Both are positive sums of a few terms, so `approximate` is within a relative ``4 (n + 1) u`` of the
entries for n terms, u = 2**-53, and the quotient within ``8 (n + 2) u``, n the larger count. The
few ratios within twice that of the largest are divided as fractions, and so are those by an entry
that float64 holds with fewer digits.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from specdist.exact.float_vector import FloatVector
from specdist.exact.vector import ExactVector

_UNIT = Fraction(1, 2**53)
_DIVIDED_EXACTLY = 256
_DEEP = 2.0**-960
_ZERO = Fraction(0)


def float_largest_ratio(
    target: ExactVector, tested: ExactVector, drafted: ExactVector
) -> tuple[Fraction, Fraction]:
    """``max target(x) / tested(x)`` over ``drafted(x) > 0`` and ``tested(x) > 0``, and the relative
    error that rounding left in it."""
    if not (
        isinstance(target, FloatVector)
        and isinstance(tested, FloatVector)
        and isinstance(drafted, FloatVector)
    ):
        raise TypeError("vectors of two kinds")
    goal, test = target.approximate(), tested.approximate()
    possible = (drafted.approximate() > 0) & (test > 0)
    ratios = np.zeros_like(goal)
    with np.errstate(over="ignore"):
        np.divide(goal, test, out=ratios, where=possible)
    largest = float(ratios.max())
    if not largest:
        return _ZERO, _ZERO
    slack = 16 * (max(len(target.terms), len(tested.terms)) + 2) * _UNIT
    deep = possible & (test < _DEEP)
    close = np.flatnonzero((ratios >= largest * (1 - float(slack))) | deep)
    if len(close) > _DIVIDED_EXACTLY and not deep.any():
        return Fraction(largest) * (1 + slack), 2 * slack
    exact = [target.entry(i) / tested.entry(i) for i in close.tolist() if tested.entry(i)]
    return max(exact, default=_ZERO), _ZERO
