"""The largest overlap of two partly known distributions.

At the scales t and s the target lies between ``a = t low`` and ``b = t high + extra``, the draft
between a' and b', token by token, and each sums to one. Overlap mass m(x) fits under both exactly
if ``m <= min(b, b')``, ``sum max(m, a) <= 1`` and ``sum max(m, a') <= 1``. Up to ``min(a, a')`` it
costs nothing, from there to ``max(a, a')`` it uses what one side has left to give, above that what
both have. The most that fits is the least of

    sum min(b, b'),   1 - sum [a - b']_+,   1 - sum [a' - b]_+,   2 - sum max(a, a'),

one term for each way in which the two budgets may run out (duals of the linear programme, which are
0 or 1). All four are concave and piecewise linear in (t, s), so the largest over all scales comes
from cutting planes: exact after finitely many, because each cut is a piece of its term.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction

from specdist.exact.concave_height import Plane, highest
from specdist.exact.interval import Interval
from specdist.exact.overlap_items import Pair, whole_factors

_ZERO, _ONE = Fraction(0), Fraction(1)
_CUTS = 60

Cut = Plane[Fraction]
"""``height + x_slope t + y_slope s``, an upper bound of the overlap at all scales t and s."""


def largest_overlap(pair: Pair) -> Fraction:
    """The largest ``sum_x min(p(x), q(x))`` (module docstring)."""
    return highest_over(pair.target_scale, pair.draft_scale, lambda t, s: cuts_at(pair, t, s))


def highest_over(
    first: Interval,
    second: Interval,
    cuts_at: Callable[[Fraction, Fraction], Sequence[Cut]],
    enough: Fraction = _ZERO,
    most_cuts: int = _CUTS,
) -> Fraction:
    """The largest over two scales of what lies below all cuts. ``cuts_at(t, s)`` gives cuts the
    lowest of which touches the function at (t, s), up to rounding. A proven upper bound at any
    time; the search ends within ``enough`` of the maximum."""
    planes: list[Cut] = []
    t, s = (first.least + first.most) / 2, (second.least + second.most) / 2
    best = None
    for _ in range(most_cuts):
        cuts = cuts_at(t, s)
        lowest = min(cut.height + cut.x_slope * t + cut.y_slope * s for cut in cuts)
        best = lowest if best is None else max(best, lowest)
        for cut in cuts:
            corner = cut.height + cut.x_slope * first.least + cut.y_slope * second.least
            plane = Plane(corner, cut.x_slope * first.width, cut.y_slope * second.width)
            if plane not in planes:
                planes.append(plane)
        summit = highest(planes)
        if summit.height <= best + enough:
            break
        t = first.least + summit.x * first.width
        s = second.least + summit.y * second.width
    return min(summit.height, _ONE)


def cuts_at(pair: Pair, t: Fraction, s: Fraction) -> list[Cut]:
    """The pieces of the four terms that are active at (t, s)."""
    one, (here, there) = whole_factors(t, s)
    sums = [[0, 0, 0], [0, 0, 0], [0, 0, 0], [0, 0, 0]]
    for count, mine, theirs in pair.items:
        a, b = here * mine.low, here * mine.high + one * mine.extra
        other_a, other_b = there * theirs.low, there * theirs.high + one * theirs.extra
        if b <= other_b:
            _add(sums[0], count, mine.extra, mine.high, 0)
        else:
            _add(sums[0], count, theirs.extra, 0, theirs.high)
        if a > other_b:
            _add(sums[1], count, theirs.extra, -mine.low, theirs.high)
        if other_a > b:
            _add(sums[2], count, mine.extra, mine.high, -theirs.low)
        if a >= other_a:
            _add(sums[3], count, 0, -mine.low, 0)
        else:
            _add(sums[3], count, 0, 0, -theirs.low)
    return [
        Plane(start + Fraction(height, pair.unit), *(Fraction(x, pair.unit) for x in slopes))
        for start, (height, *slopes) in zip((0, 1, 1, 2), sums, strict=True)
    ]


def _add(sums: list[int], count: int, height: int, along_t: int, along_s: int) -> None:
    sums[0] += count * height
    sums[1] += count * along_t
    sums[2] += count * along_s
