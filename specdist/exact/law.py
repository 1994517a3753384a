"""A distribution with an exact meaning, in the two representations.

A law is ``w(x) / sum w`` for exact non-negative weights. `RationalLaw` holds the fractions
themselves. `FloatLaw` holds float64 weights, which are the dyadic rationals they are, and their
exact sum. ``bound`` is the relative rounding error of each weight against the real-valued law
that it stands for: ``|w / w_real - 1| <= bound`` (0 when nothing was rounded).

Two laws of equal ``origin`` and equal support are the same real-valued law, whatever was rounded:
their weights come from the same numbers by the same formula.

``mass`` is the sum that an acceptance test and a residual see where a row enters them with its own
sum (``mass * w(x) / sum w``); draws always follow the law itself.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class RationalLaw:
    """Probabilities as fractions, summing to one exactly; index is the token id.

    ``exponents``, where the row came from logits, are the exact rational a(x) with
    probability ``exp(a(x)) / sum exp(a)``; None for a token of probability 0.
    """

    values: tuple[Fraction, ...]
    bound: Fraction = Fraction(0)
    exponents: tuple[Fraction | None, ...] | None = None
    origin: Hashable = None
    mass: Fraction = Fraction(1)

    @property
    def size(self) -> int:
        return len(self.values)

    @property
    def support(self) -> int:
        """How many tokens are possible."""
        return sum(1 for value in self.values if value)


@dataclass(frozen=True, eq=False)
class LogScores:
    """The logits a row of weights came from: ``weight = exp((score - largest) / temperature)``.

    ``array``: [V] float32, float64, float16, or uint16 bit patterns of bfloat16, finite.
    """

    array: NDArray[Any]
    largest: float
    temperature: Fraction

    def block(self, entries: slice) -> NDArray[np.floating[Any]]:
        """The scores of a range of tokens as float32 or float64, exactly."""
        import numpy as np

        values = self.array[entries]
        if values.dtype == np.uint16:
            return (values.astype(np.uint32) << 16).view(np.float32)
        return values.astype(np.float64) if values.dtype == np.float16 else values


@dataclass(frozen=True, eq=False)
class FloatLaw:
    """Float64 weights on the tokens ``ids`` (None: all ``size`` tokens, in id order).

    ``ids`` is sorted and holds no duplicates; tokens outside it have weight 0. For 16-bit rows
    ``codes`` (one per token), ``table`` (weight of each of 65,536 codes), ``present`` (the codes
    that occur, rising) and ``counts`` (how often each does) replace ``dense``, because such a row
    takes few distinct values. ``log_scores``, where all tokens are kept and no weight underflowed,
    lets two laws be compared without their weights.
    """

    size: int
    bound: Fraction
    dense: NDArray[np.float64] | None = None
    ids: NDArray[np.intp] | None = None
    codes: NDArray[np.uint16] | None = None
    table: NDArray[np.float64] | None = None
    present: NDArray[np.intp] | None = None
    counts: NDArray[np.intp] | None = None
    log_scores: LogScores | None = None
    origin: Hashable = None
    mass: Fraction = Fraction(1)

    @cached_property
    def weights(self) -> NDArray[np.float64]:
        """The weights as one array, in the order of ``ids``."""
        if self.dense is not None:
            return self.dense
        if self.codes is None or self.table is None:
            raise ValueError("a float law needs dense weights, or codes with their table")
        return self.table.take(self.codes)

    @cached_property
    def support(self) -> int:
        """How many tokens are possible."""
        if self.log_scores is not None:
            return self.size
        if self.table is not None and self.counts is not None and self.present is not None:
            return int(self.counts[self.table[self.present] > 0].sum())
        import numpy as np

        return int(np.count_nonzero(self.weights > 0))


Law = RationalLaw | FloatLaw
