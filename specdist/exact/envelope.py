"""The largest ratio of two laws over the tokens that can be drafted."""

from __future__ import annotations

from fractions import Fraction
from typing import NamedTuple

from specdist.exact.rational_vector import RationalVector, quotient_error
from specdist.exact.vector import ExactVector

_ZERO = Fraction(0)


class LargestRatio(NamedTuple):
    """``max target(x) / tested(x)``, and a bound on its relative error."""

    value: Fraction
    error: Fraction


def largest_ratio(target: ExactVector, tested: ExactVector, drafted: ExactVector) -> LargestRatio:
    """Over the tokens x with ``drafted(x) > 0`` and ``tested(x) > 0``; 0 where there is none.

    Exact for the weights as represented, unless hundreds of float64 ratios tie within rounding:
    then rounded up, with that in the error.
    """
    inherited = quotient_error(_ZERO, target.error, tested.error)
    if isinstance(target, RationalVector):
        if not isinstance(tested, RationalVector) or not isinstance(drafted, RationalVector):
            raise TypeError("vectors of two kinds")
        rows = zip(target.entries, tested.entries, drafted.entries, strict=True)
        ratios = [goal / test for goal, test, mass in rows if mass and test]
        return LargestRatio(max(ratios, default=_ZERO), inherited)
    from specdist.exact.float_envelope import float_largest_ratio

    value, rounded = float_largest_ratio(target, tested, drafted)
    return LargestRatio(value, (1 + inherited) * (1 + rounded) - 1)
