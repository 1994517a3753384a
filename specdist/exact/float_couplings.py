"""Couplings of float64 laws by one race and by cumulative intervals (`couplings` has the laws).

Entries are rounded to float64 (a relative ``4u``, u = 2**-53), sums come from `float_prefix`.
Sums and quotients of non-negative numbers keep relative errors, and two ratios that rounding puts
in the wrong order are within ``16 u`` of each other, so a race is off by a relative
``2 p + 64 u`` with p the error of the prefix sums. Boundaries of intervals are off by ``p + 4u``.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from specdist.exact.float_atoms import Atom, Terms
from specdist.exact.float_prefix import prefix_error, prefix_sums, suffix_sums
from specdist.exact.float_vector import FloatVector
from specdist.exact.vector import ExactVector

FloatArray = NDArray[np.float64]
_UNIT = Fraction(1, 2**53)
_ZERO = Fraction(0)
_TINY = Fraction(1, 2**900)


def float_both_choose(
    scheme: str, target: ExactVector, draft: ExactVector, apart: Fraction, error: Fraction
) -> FloatVector:
    """``gumbel`` or ``inverse-cdf``. ``apart`` is what the errors of the laws make of a race,
    ``error`` the larger of the two."""
    if not isinstance(target, FloatVector) or not isinstance(draft, FloatVector):
        raise TypeError("vectors of two kinds")
    p, q = target.approximate(), draft.approximate()
    summed = prefix_error(len(p))
    if scheme == "gumbel":
        values = _by_race(p, q)
        rounded = 2 * (2 * summed + 64 * _UNIT) + apart
    else:
        values = _by_intervals(p, q)
        rounded = 2 * int(np.count_nonzero((p > 0) & (q > 0))) * (summed + 8 * _UNIT + error)
    terms: Terms = {(Atom.of(values), frozenset()): Fraction(1)}
    found = target.of(terms, _ZERO).minimum(target).minimum(draft)
    return found.widened(min(rounded + _TINY, Fraction(2)))


def _by_race(p: FloatArray, q: FloatArray) -> FloatArray:
    ratios = np.full_like(p, np.inf)
    with np.errstate(over="ignore"):
        np.divide(q, p, out=ratios, where=p > 0)
    order = np.argsort(ratios, kind="stable")
    ranked_p, ranked_q = p[order], q[order]
    low = prefix_sums(ranked_p)
    high = np.zeros_like(low)
    high[:-1] = suffix_sums(ranked_q)[1:]
    both = (ranked_p > 0) & (ranked_q > 0)
    # 1 / (low / p + high / q), where low is at least p: no quotient overflows to 0 / 0.
    found = np.zeros_like(p)
    with np.errstate(over="ignore"):
        ours = np.divide(low, ranked_p, out=np.ones_like(p), where=both)
        theirs = np.divide(high, ranked_q, out=np.zeros_like(p), where=both)
    found[order[both]] = 1.0 / (ours[both] + theirs[both])
    return found


def _by_intervals(p: FloatArray, q: FloatArray) -> FloatArray:
    ends = [prefix_sums(row) for row in (p, q)]
    starts = [np.concatenate(([0.0], row[:-1])) for row in ends]
    overlap = np.minimum(*ends) - np.maximum(*starts)
    return np.where((p > 0) & (q > 0), np.maximum(overlap, 0.0), 0.0)
