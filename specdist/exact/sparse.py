"""A vector from a few entries."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import TypeVar

from specdist.exact.rational_vector import RationalVector
from specdist.exact.vector import ExactVector

_ZERO = Fraction(0)
Vector = TypeVar("Vector", bound=ExactVector)


def support(vector: ExactVector) -> list[int]:
    """The tokens with a positive entry, largest first."""
    share = vector.positive_share()
    return [] if share is None else vector.positive_part().largest(share.size)


def from_entries(
    like: ExactVector, entries: Mapping[int, Fraction], error: Fraction
) -> ExactVector:
    """``entries`` by token, 0 elsewhere, over the tokens of ``like``; rounded to float64 where it
    is made of float64 arrays, with that in the error."""
    if isinstance(like, RationalVector):
        values = tuple(entries.get(token, _ZERO) for token in range(like.size))
        return RationalVector(values, error)
    import numpy as np

    from specdist.exact.float_atoms import Atom
    from specdist.exact.float_vector import FloatVector

    if not isinstance(like, FloatVector):
        raise TypeError("neither fractions nor float64 arrays")
    array = np.zeros(like.space.size)
    for token, value in entries.items():
        entry = like.space.entry(token)
        if entry is None:
            raise ValueError(f"token {token} is outside the space")
        array[entry] = float(value)
    size = sum(map(abs, entries.values()), _ZERO)
    rounded = size / 2**52 + Fraction(1, 2**1000)
    return like.of({(Atom.of(array), frozenset()): Fraction(1)}, error + rounded)
