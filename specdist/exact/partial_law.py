"""What is known of a distribution of which only some tokens are listed, or with rounding.

A `PartialLaw` stands for every distribution p with a scale t such that

    p(x) = t w(x),  low(x) <= w(x) <= high(x)   for the listed tokens x,
    0 <= w(x) <= cap                            for each of the ``others`` that are not listed,
    scale.least <= t <= scale.most,  sum_x p(x) = 1.

Listed log-probabilities give ``scale`` 1 (or a little around it, where the engine's normaliser was
rounded), logits without their normaliser a wide one. One scale for all tokens keeps the quotients
of listed tokens exact.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from specdist.exact.interval import Interval

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

ONE = Interval.of(1)


@dataclass(frozen=True, eq=False)
class PartialLaw:
    """See the module. ``ids`` are rising and distinct; ``low`` and ``high`` belong to them, as
    fractions or as float64 arrays. ``cap`` None: no unlisted token is bounded by itself, only by
    the mass that is left.

    ``others`` is 0 where every token that is not listed is impossible, otherwise the number of all
    other tokens of the vocabulary (also of a law that was cut to k tokens, unless all k are
    listed), whose ids count from 0: two laws with as many tokens in all are over the same ones.
    None: any number. A token that may be possible without being measured, such as one of a known
    support, is listed with ``low`` 0."""

    ids: tuple[int, ...] | NDArray[np.intp]
    low: tuple[Fraction, ...] | NDArray[np.float64]
    high: tuple[Fraction, ...] | NDArray[np.float64]
    others: int | None
    cap: Fraction | None = None
    scale: Interval = ONE
