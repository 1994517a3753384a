"""``exp`` of the entries of float64 vectors."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from specdist.exact.exponential import slope
from specdist.exact.float_atoms import Atom
from specdist.exact.float_quotients import whole
from specdist.exact.float_vector import FloatVector

_UNIT = Fraction(1, 2**53)


def float_exponentials(vector: FloatVector) -> FloatVector:
    """``exp(v(x))``, v at least 0: `numpy.exp` is trusted to 4 units in the last place, the
    argument is rounded like `whole`, and the slope is at most ``exp(max v)``."""
    rounded = whole(vector) if vector.terms else vector
    arguments = np.maximum(rounded.approximate(), 0.0)
    values = np.exp(arguments)
    steep = slope(Fraction(float(arguments.max())))
    # `approximate` multiplies once more by the coefficient: two roundings an entry.
    inherited = steep * (rounded.error + 4 * _UNIT * rounded.size_bound())
    error = 16 * _UNIT * Fraction(float(values.sum())) + inherited
    return vector.of({(Atom.of(values), frozenset()): Fraction(1)}, error)
