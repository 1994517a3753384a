"""Where a program begins to do something else as a grid point grows."""

from __future__ import annotations

from collections.abc import Sequence

from specdist.audit.probe.place import Along
from specdist.audit.refusals import RefusalError

MOST = 256
"""More break points than this in one uniform are no finite number of them."""


def probe_points(size: int) -> list[int]:
    """The first and the last grid point, one close to each, and four evenly spread between."""
    even = [(2 * i + 1) * size // 8 for i in range(4)]
    near = [0, size >> 10, size - 1 - (size >> 10), size - 1]
    return sorted({*near, *even})


def break_points(low: int, high: int, behaviours: Sequence[Along]) -> list[int]:
    """The points k of (low, high] where the run differs from that of k - 1, found by bisection
    between points that behave differently. Every interval between them looks alike at its ends.

    Raises RefusalError for too many.
    """
    found: list[int] = []
    open_intervals = [(low, high)]
    while open_intervals:
        low, high = open_intervals.pop()
        apart = _telling_apart(low, high, behaviours)
        if apart is None:
            continue
        k = _first_change(low, high, apart)
        found.append(k)
        if len(found) > MOST:
            raise too_many()
        open_intervals += [(low, k - 1), (k, high)]
    return sorted(found)


def _telling_apart(low: int, high: int, behaviours: Sequence[Along]) -> Along | None:
    """The first completion that tells two points apart."""
    if low == high:
        return None
    return next((at for at in behaviours if not at(low).behaves_as(at(high))), None)


def _first_change(low: int, high: int, at: Along) -> int:
    """A point that does not behave as the one before it, and of which the lower side behaves as
    ``low``: the only change between them, where there is one."""
    begin = at(low)
    while high - low > 1:
        middle = (low + high) // 2
        if at(middle).behaves_as(begin):
            low = middle
        else:
            high = middle
    return high


def too_many() -> RefusalError:
    """The error for a uniform that every run treats in its own way."""
    return RefusalError(
        f"a uniform number splits the runs at more than {MOST} points",
        expected="comparisons of one uniform with numbers: a few intervals that are treated alike",
        advice="draw what is compared by itself: draw.categorical, draw.bernoulli",
    )
