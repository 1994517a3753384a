"""`raised` on float64 vectors: heights, scales and residuals of all tokens in O(V log V).

With u = 2**-53, entries are rounded by a relative ``4u`` and 1 - p, 1 - h by an absolute ``2u``, so
heights of ``p <= 1/2`` are right within a relative ``16u`` and the one above within what `raised`
says for an error of ``16u`` in p. Prefix sums are right within a relative P (`float_prefix`), and
a token on the wrong side of its ratio weighs ``16 u p`` at most, so the weights of one residual, of
size at most ``s + 1 + F V``, are off by ``R = 4 (P + 32u) (2 + F V)`` in all. Twice that error
over Z(n), for every rejected n, bounds the error of what is recovered.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from specdist.exact.float_atoms import Atom
from specdist.exact.float_prefix import prefix_error, prefix_sums, suffix_sums
from specdist.exact.float_vector import FloatVector
from specdist.exact.vector import ExactVector

if TYPE_CHECKING:
    from specdist.exact.raised import Raised, Spread

FloatArray = NDArray[np.float64]
_UNIT = Fraction(1, 2**53)
_ROUNDED = 16 * _UNIT


def float_heights(law: ExactVector, delta: Fraction) -> tuple[FloatVector, Fraction]:
    """h for every token, and the relative rounding of light ones."""
    vector = _float(law)
    p = np.minimum(vector.approximate(), 1.0)
    root = np.sqrt(2.0 * float(delta) * p * (1.0 - p))
    return _vector(vector, np.minimum(p + root, 1.0)), _ROUNDED


def float_recovered(
    refused: ExactVector, found: Raised, subtracted: ExactVector | None, floor: Fraction
) -> Spread:
    """`recovered_by_raised` for float64 vectors."""
    from specdist.exact.raised import Spread

    vector = _float(refused)
    law, heights = _float(found.law).approximate(), _float(found.vector).approximate()
    least = float(floor)
    taken = np.zeros_like(law) if subtracted is None else _float(subtracted).approximate()
    tested = 1.0 if subtracted is None else taken
    at_drafted = np.maximum(heights - tested, least)
    scale = np.divide(1.0 - heights, 1.0 - law, out=np.zeros_like(law), where=law < 1.0)
    np.clip(scale, 0.0, 1.0, out=scale)
    rejected = np.maximum(vector.approximate(), 0.0)
    residuals = _Residuals(law, taken + least, scale, at_drafted, least)
    moved = _moved(found, heights, subtracted)
    moved += float(4 * (prefix_error(len(law)) + 32 * _UNIT)) * (2.0 + least * len(law))
    unsure = residuals.masses <= moved
    shares = np.divide(rejected, residuals.masses, out=np.zeros_like(law), where=~unsure)
    off = np.where(
        unsure, 2.0, np.minimum(4.0 * moved / np.where(unsure, 1.0, residuals.masses), 2.0)
    )
    error = Fraction(float(rejected @ off)) * Fraction(1001, 1000)
    rounded = 4 * (len(vector.terms) + 2) * _UNIT * vector.size_bound()
    values = residuals.recovered(shares)
    total = _vector(vector, values).widened(error + rounded + vector.error)
    return Spread(total, Fraction(0))


def _moved(found: Raised, heights: FloatArray, subtracted: ExactVector | None) -> FloatArray:
    """``Dh + Ds + e + error(u)`` for every token."""
    known = float(found.vector.error)
    moved = np.minimum(6.0 * known * heights if known < 1 else np.full_like(heights, 2.0), 2.0)
    if found.heavy is not None:
        entry = _float(found.law).space.entry(found.heavy)
        if entry is not None:
            moved[entry] = float(found.moved(found.heavy)) * 1.001
    inherited = found.law.error + (Fraction(0) if subtracted is None else subtracted.error)
    return moved + float(inherited)


class _Residuals:
    """The residual after every token: Z(n), and what is recovered from shares k(n) / Z(n)."""

    def __init__(
        self,
        law: FloatArray,
        taken: FloatArray,
        scale: FloatArray,
        at_drafted: FloatArray,
        floor: float,
    ) -> None:
        self._law, self._taken, self._scale, self._floor = law, taken, scale, floor
        self._ratio = np.full_like(law, np.inf)
        with np.errstate(over="ignore"):
            np.divide(taken, law, out=self._ratio, where=law > 0)
        order = np.argsort(self._ratio)
        place = np.searchsorted(self._ratio[order], scale)
        above = np.concatenate(([0.0], prefix_sums(law[order])))[place]
        below = np.concatenate(([0.0], prefix_sums(taken[order])))[place]
        own = np.maximum(scale * law - taken, 0.0) + floor
        self._instead = at_drafted - own
        self.masses = scale * above - below + floor * len(law) + self._instead

    def recovered(self, shares: FloatArray) -> FloatArray:
        """``sum_n k(n) w_n(y) / Z(n)``."""
        order = np.argsort(self._scale)
        place = np.searchsorted(self._scale[order], self._ratio, side="right")
        ordered = shares[order]
        plain = np.concatenate((suffix_sums(ordered), [0.0]))
        scaled = np.concatenate((suffix_sums(ordered * self._scale[order]), [0.0]))
        values = self._law * scaled[place] - self._taken * plain[place] + plain[0] * self._floor
        found: FloatArray = np.maximum(values + shares * self._instead, 0.0)
        return found


def _float(vector: ExactVector) -> FloatVector:
    if not isinstance(vector, FloatVector):
        raise TypeError("vectors of two kinds")
    return vector


def _vector(like: FloatVector, values: FloatArray) -> FloatVector:
    return like.of({(Atom.of(values), frozenset()): Fraction(1)}, Fraction(0))
