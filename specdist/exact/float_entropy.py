"""The entropy of float64 vectors, enclosed.

For v = c a with an array a, ``H = -c (sum a ln a + ln c sum a)``. `numpy.log` is trusted to 4 units
in the last place, that is 8u with u = 2**-53, and a product adds one more u, so each ``a ln a`` is
off by at most ``10 u |a ln a|``; the sum of the rounded terms is exact, and so is that of a. What
underflows is far below the rest.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from specdist.exact.decimals import as_decimal, decimal_context
from specdist.exact.entropy import Enclosure
from specdist.exact.float_atoms import Atom
from specdist.exact.float_quotients import whole
from specdist.exact.float_sum import exact_dots
from specdist.exact.float_vector import FloatVector
from specdist.exact.vector import ExactVector

_UNIT = Fraction(1, 2**53)
_TINY = Fraction(1, 2**900)
_DIGITS = 40


def float_entropy(vector: ExactVector) -> Enclosure:
    """H of the entries as they are, enclosed; the vector's own error is not in it."""
    if not isinstance(vector, FloatVector):
        raise TypeError("no float64 vector")
    atom, scale = whole(vector).single()
    total, logarithms, size = _sums(atom)
    context = decimal_context(_DIGITS)
    logarithm = Fraction(as_decimal(scale, context).ln(context))
    middle = -scale * (logarithms + logarithm * total)
    rounded = 12 * _UNIT * size + abs(logarithm) * total / 10**37
    error = scale * rounded + _TINY
    return Enclosure(middle - error, middle + error)


def _sums(atom: Atom) -> tuple[Fraction, Fraction, Fraction]:
    """``sum a``, the sum of the rounded ``a ln a``, and that of their sizes."""
    values, counts = atom.values, None
    if atom.table is not None and atom.present is not None:
        values, counts = atom.table[atom.present], atom.counts
    terms = np.zeros_like(values)
    np.log(values, out=terms, where=values > 0)
    terms *= values
    (total,) = exact_dots(values, [counts], atom.size)
    (logarithms,) = exact_dots(terms, [counts], atom.size)
    (size,) = exact_dots(np.abs(terms), [counts], atom.size)
    return total, logarithms, size
