"""Recorded draws held against a law: inverse CDF of a uniform, and the race of exponentials."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_EXTRA = 256
"""Units of rounding beside those of the sum: softmax, division by the temperature, quotient."""


def inverse_cdf_holds(
    values: NDArray[np.float64], token: int, uniform: Fraction, unit: float, scale: float = 1.0
) -> bool | None:
    """Whether ``token`` is the smallest x with ``u * total < v(0) + ... + v(x)``.

    ``values``: float64 [V], not negative; each is off by at most ``scale * unit`` times a small
    number. None where the uniform lies within rounding of an end of the token's interval.
    """
    import numpy as np

    sums = np.cumsum(values)
    total = float(sums[-1])
    if not total > 0.0 or not 0 <= token < len(values) or not values[token] > 0.0:
        return False
    count = int(np.count_nonzero(values))
    slack = (count + _EXTRA) * unit * max(scale, total)
    point = float(uniform) * total
    above = float(sums[token])
    below = float(sums[token - 1]) if token else 0.0
    if below + slack <= point < above - slack:
        return True
    if below - slack <= point <= above + slack:
        return None
    return False


def race_holds(
    values: NDArray[np.float64], token: int, noise: Sequence[Fraction], unit: float
) -> bool | None:
    """Whether ``token`` is the first argmax of ``v(x) / noise(x)``; None within rounding."""
    import numpy as np

    times = np.array([float(number) for number in noise])
    if len(times) != len(values) or not 0 <= token < len(values) or not values[token] > 0.0:
        return False
    with np.errstate(divide="ignore", invalid="ignore"):
        scores = np.where(values > 0.0, values / times, 0.0)
    mine, others = float(scores[token]), np.delete(scores, token)
    best = float(others.max()) if len(others) else 0.0
    slack = _EXTRA * unit
    if mine > best * (1.0 + slack):
        return True
    return None if mine >= best * (1.0 - slack) else False
