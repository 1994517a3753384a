"""What a draw may be: the law of a row, and that of a recovered token, between bounds.

The bounds hold our own rounding and that of the recording engine: its softmax, its division by the
temperature and its cumulative sums.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from specdist.model.row import NumberFormat
from specdist.model.trace import Conventions
from specdist.processing.row_sum import ROUNDING, softmax_units
from specdist.verify.replay.recorded_rows import RowLaw

if TYPE_CHECKING:
    from specdist.exact.law_bounds import LawBounds

_MORE = 256
"""Units beside those of a softmax: quotients, and logits divided by a temperature."""


def engine_slack(conventions: Conventions, size: int) -> Fraction:
    """Relative rounding of a probability, or of a cumulative sum, that the engine computed."""
    numbers = conventions.arithmetic
    unit = ROUNDING.get(numbers, ROUNDING[NumberFormat.FLOAT64]).unit
    return (softmax_units(size) + _MORE + size) * unit


def law_bounds(law: RowLaw, slack: Fraction) -> LawBounds:
    """A processed row between its bounds."""
    from specdist.exact.law_bounds import LawBounds

    return LawBounds.of(law.law, slack)


def without(law: LawBounds, token: int) -> LawBounds | None:
    """The law without one token; None where nothing is left."""
    from specdist.exact.law_bounds import LawBounds

    entry = law.entry(token)
    if entry is None:
        return law
    low, high = law.low.copy(), law.high.copy()
    low[entry] = high[entry] = 0.0
    return LawBounds(law.size, law.ids, low, high) if high.any() else None


def argmax_of(law: LawBounds) -> LawBounds | None:
    """The point mass at the likeliest token; None where the bounds leave open which it is."""
    from specdist.exact.law_bounds import LawBounds

    first = int(law.low.argmax())
    others = law.high.copy()
    others[first] = 0.0
    if others.max(initial=0.0) >= law.low[first]:
        return None
    ids = law.ids[first : first + 1]
    one = law.low[first : first + 1] / law.low[first]
    return LawBounds(law.size, ids, one, one)


def softmax_of(residual: LawBounds | None, size: int) -> LawBounds:
    """``exp`` of a residual that is not normalised; 1 for every token that it leaves out."""
    import numpy as np

    from specdist.exact.law_bounds import LawBounds

    low, high = np.ones(size), np.ones(size)
    if residual is not None:
        low[residual.ids] = np.exp(residual.low) * (1.0 - 2.0**-50)
        high[residual.ids] = np.exp(residual.high) * (1.0 + 2.0**-50)
    return LawBounds(size, np.arange(size), low, high)
