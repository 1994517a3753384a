"""Inverse-CDF draws with a uniform on a grid: how many grid points each token gets.

The smallest x with ``u < C(x)``, u uniform on ``{0 .. N-1}/N``, is drawn with probability
``(ceil(C(x) N) - ceil(C(x-1) N)) / N``, C the cumulative probability in the order of the ids.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import NamedTuple


class Edges(NamedTuple):
    """``ceil(C N)`` after every entry, and the entries whose C lies so close to a grid point that
    rounding of the weights leaves the side open."""

    after: list[int]
    close: list[int]

    def counts(self) -> list[int]:
        """Grid points of every entry."""
        return [edge - before for before, edge in zip([0, *self.after], self.after, strict=False)]


def grid_edges(weights: Sequence[int], points: int, slack: Fraction) -> Edges:
    """The edges of positive whole weights; ``slack`` bounds the relative error of a share."""
    total = sum(weights)
    above, below = slack.numerator * points, slack.denominator
    after: list[int] = []
    close: list[int] = []
    reached = 0
    for entry, weight in enumerate(weights):
        reached += weight
        whole, rest = divmod(reached * points, total)
        after.append(whole + (rest > 0))
        if above and reached < total and min(rest, total - rest) * below <= above * reached:
            close.append(entry)
    return Edges(after, close)
