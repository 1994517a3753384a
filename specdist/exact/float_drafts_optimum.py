"""``max over H of [q(H)^n - p(H)]`` over float64 arrays, without sorting them.

The formula is that of `drafts_optimum`.

With p = a / A and q = b / B for float64 arrays a and b, the order of the tokens by p/q is that of
a/b, and the rounded quotients never turn it round: rounding is monotone. So the tokens fall into
bins by the leading bits of the quotient, and every bin boundary is a set that may be the maximiser.
Between two boundaries with sums (s, m) and (t, k) of q and p, and quotients p/q from r to w in
between, the convexity of the power gives for every set H, with c = (t^n - s^n) / (t - s),

    q(H)^n - p(H) <= s^n - m + sum over the part of H in between of (c q - p)
                  <= s^n - m + max(0, t^n - s^n - r (t - s)),
    and likewise  <= t^n - k + max(0, w (t - s) - (t^n - s^n)).

Bins where one of the bounds is below the best boundary are out. Those that remain, a few hundred
tokens, are gone through one by one in exact integers, from the exact sums of what lies before.
Where more tokens remain, each distinct quotient becomes a bin of its own, and a bin of tokens with
exactly one p/q a single step: along such tokens the value is convex, so largest at an end.

Rounding. Sums of at most V non-negative float64 numbers, and then of at most V bins, are within a
relative ``d = (2 V + 16) u``, u = 2**-53, scaling and quotients included; s, t, m and k are at most
1, and only quotients up to n are used. So each bound and each boundary value is computed to within
``8 (n + 1) d`` as long as ``n d <= 1/4``: powers are off by 2 n d, the products ``r (t - s)`` by
3 n d.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import accumulate

import numpy as np
from numpy.typing import NDArray

from specdist.exact.float_atoms import Atom
from specdist.exact.float_quotients import whole
from specdist.exact.float_sum import exact_sum
from specdist.exact.float_terms import multiply_exactly
from specdist.exact.float_vector import FloatVector
from specdist.exact.vector import ExactVector

FloatArray = NDArray[np.float64]
Integers = NDArray[np.int64]
Masses = tuple[Fraction, Fraction]
"""Sums of b and of a over some tokens."""

ONE_BY_ONE = 8_192
"""So many steps at most are taken in integers."""
_RUNS = 8
"""So many stretches of open bins at most."""
_DROPPED_BITS = 44
"""What a bin does not look at in a quotient: 256 bins an octave."""
_SMALLEST = 2.0**-64
"""Quotients p/q below this share the first bin."""
_ROOM = Fraction(2) ** 900
_UNIT = 2.0**-53
_ZERO = Fraction(0)


@dataclass(frozen=True, eq=False)
class _Pair:
    """The two laws, ``p = a * target_scale`` and ``q = b * draft_scale``, and the number n."""

    target: Atom
    target_scale: Fraction
    draft: Atom
    draft_scale: Fraction
    count: int

    def excess(self, drafted: Fraction, kept: Fraction) -> Fraction:
        """``q(H)^n - p(H)`` from the sums of b and of a over H."""
        return (self.draft_scale * drafted) ** self.count - self.target_scale * kept

    def before(self, chosen: NDArray[np.bool_]) -> Masses:
        return self.draft.exact_sum(chosen), self.target.exact_sum(chosen)


@dataclass(frozen=True, eq=False)
class _Bins:
    """Sets of tokens of rising p/q. ``labels``: the bin of every token, `len(low)` where p/q is n
    or more or q = 0; ``low`` and ``high``: the least and largest p/q of each bin."""

    ratios: FloatArray
    labels: Integers
    low: FloatArray
    high: FloatArray


@dataclass(frozen=True, eq=False)
class _Narrowed:
    """What is left of the bins: those with tokens (``filled``), which may hold the maximiser, the
    boundary of largest value (it lies before bin ``best``), and an upper bound of the maximum."""

    filled: NDArray[np.intp]
    open: NDArray[np.bool_]
    best: int
    limit: float


def float_excess(
    target: ExactVector, draft: ExactVector, count: int
) -> tuple[Fraction, Fraction] | None:
    """A value that some H has, and a bound of what the maximum lies above it: 0 where the value is
    the maximum itself. What a combination of laws loses when it is written as one array is in the
    bound too. None for weights so large or small that float64 sums tell nothing."""
    if not isinstance(target, FloatVector) or not isinstance(draft, FloatVector):
        raise TypeError("vectors of two kinds")
    goal, drafted = whole(target), whole(draft)
    lost = (goal.error - target.error) + count * (drafted.error - draft.error)
    pair = _Pair(*goal.single(), *drafted.single(), count)
    ratio = pair.target_scale / pair.draft_scale
    if not all(1 / _ROOM < x < _ROOM for x in (ratio, pair.draft_scale, pair.target_scale)):
        return None
    bins = _by_leading_bits(pair, float(ratio))
    slack = 8 * (count + 1) * (2 * len(bins.labels) + 16) * _UNIT
    if count * slack > 1:
        return None
    narrowed = _narrowed(pair, bins, slack)
    steps = _steps(pair, bins, narrowed)
    if steps is None:
        bins, narrowed = _by_quotient(pair, bins, narrowed, float(ratio), slack)
        steps = _steps(pair, bins, narrowed)
    if steps is None:
        found = pair.excess(*pair.before(bins.labels < narrowed.best))
        return found, max(Fraction(narrowed.limit) - found, _ZERO) + lost
    return max(_largest(pair, base, run) for base, run in steps), lost


def _by_leading_bits(pair: _Pair, scale: float) -> _Bins:
    above, below = pair.target.values, pair.draft.values
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        ratios = above / below
    np.nan_to_num(ratios, copy=False, nan=np.inf, posinf=np.inf)
    edges = np.array([_SMALLEST / scale, pair.count / scale * (1 + 2.0**-40)])
    first, last = (edges.view(np.int64) >> _DROPPED_BITS).tolist()
    labels = ratios.view(np.int64) >> _DROPPED_BITS
    np.minimum(labels, last + 1, out=labels)
    np.maximum(labels, first, out=labels)
    labels -= first
    numbers = np.arange(first, last + 2, dtype=np.int64) << _DROPPED_BITS
    borders = numbers.view(np.float64) * scale
    borders[0] = 0.0
    return _Bins(ratios, labels, borders[:-1], borders[1:])


def _by_quotient(
    pair: _Pair, bins: _Bins, narrowed: _Narrowed, scale: float, slack: float
) -> tuple[_Bins, _Narrowed]:
    """The open bins again, with a bin for every distinct quotient."""
    inside = np.append(narrowed.open, False)[bins.labels]
    # Above the quotients of the bin before, which scaling may round up to the border.
    standing = np.append(bins.low * (1 + 2.0**-40), np.inf)[bins.labels]
    standing[inside] = bins.ratios[inside] * scale
    borders, labels = np.unique(standing, return_inverse=True)
    if borders[-1] == np.inf:
        borders = borders[:-1]
    wide = 1 + 8 * _UNIT
    finer = _Bins(bins.ratios, labels.reshape(-1), borders / wide, borders * wide)
    again = _narrowed(pair, finer, slack)
    was_open = np.zeros(len(borders) + 1, dtype=np.bool_)
    was_open[finer.labels[inside]] = True
    return finer, replace(again, open=again.open & was_open[:-1])


def _narrowed(pair: _Pair, bins: _Bins, slack: float) -> _Narrowed:
    """The bounds of the module docstring for every bin that has a token."""
    size = len(bins.low)
    drafted, target = (
        np.bincount(bins.labels, weights=atom.values, minlength=size + 1)[:size]
        for atom in (pair.draft, pair.target)
    )
    filled = np.flatnonzero(drafted)
    step = drafted[filled] * float(pair.draft_scale)
    kept = np.cumsum(target[filled] * float(pair.target_scale))
    power = np.append(0.0, np.cumsum(step) ** pair.count)
    value = power - np.append(0.0, kept)
    rise = np.diff(power)
    from_below = value[:-1] + np.maximum(rise - bins.low[filled] * step, 0.0)
    from_above = value[1:] + np.maximum(bins.high[filled] * step - rise, 0.0)
    bound = np.minimum(from_below, from_above)
    best = int(np.argmax(value))
    still = np.zeros(size, dtype=np.bool_)
    still[filled[bound >= value[best] - 2 * slack]] = True
    border = int(filled[best]) if best < len(filled) else size
    return _Narrowed(filled, still, border, float(bound.max()) + slack)


def _steps(
    pair: _Pair, bins: _Bins, narrowed: _Narrowed
) -> list[tuple[Masses, list[Masses]]] | None:
    """The open bins in runs: the exact sums before each run, and those of its tokens in order.
    None where there are too many."""
    labels = bins.labels
    still = np.flatnonzero(narrowed.open[narrowed.filled])
    runs = np.split(narrowed.filled[still], np.flatnonzero(np.diff(still) > 1) + 1)
    inside = np.flatnonzero(np.append(narrowed.open, False)[labels])
    ordered = inside[np.argsort(bins.ratios[inside], kind="stable")]
    if len(runs) > _RUNS or np.count_nonzero(np.diff(bins.ratios[ordered])) >= ONE_BY_ONE:
        return None
    found: list[tuple[Masses, list[Masses]]] = []
    left = ONE_BY_ONE
    for run in runs:
        own = ordered[(labels[ordered] >= run[0]) & (labels[ordered] <= run[-1])]
        masses: list[Masses] = []
        for alike in np.split(own, np.flatnonzero(np.diff(bins.ratios[own])) + 1):
            masses += _alike(pair, alike, left)
            left = ONE_BY_ONE - len(masses)
            if left <= 0:
                return None
        found.append((pair.before(labels < run[0]), masses))
    return found


def _alike(pair: _Pair, tokens: NDArray[np.intp], limit: int) -> list[Masses]:
    """Tokens of one rounded quotient in the order of the exact one: all of them together if it is
    the same. Beyond ``limit`` they are not put in order, nor all returned."""
    below, above = pair.draft.at(tokens), pair.target.at(tokens)
    if len(tokens) > 1:
        if _tied(above, below):
            return [(exact_sum(below), exact_sum(above))]
        below, above = below[: limit + 1], above[: limit + 1]
    pairs = [
        (Fraction(b), Fraction(a)) for b, a in zip(below.tolist(), above.tolist(), strict=True)
    ]
    return sorted(pairs, key=lambda masses: masses[1] / masses[0]) if len(pairs) > 1 else pairs


def _tied(above: FloatArray, below: FloatArray) -> bool:
    """Whether a/b is the same for all of them, exactly."""
    if (above == below).all():
        return True
    first = multiply_exactly(above, np.full_like(above, below[0]))
    second = multiply_exactly(below, np.full_like(below, above[0]))
    cut = first[2] or second[2]
    return not cut and all((x == y).all() for x, y in zip(first[:2], second[:2], strict=True))


def _largest(pair: _Pair, base: Masses, run: list[Masses]) -> Fraction:
    """The largest value among the sets that end in a run, compared in integers."""
    unit = max(mass.denominator for masses in (base, *run) for mass in masses)
    steps = [[mass.numerator * (unit // mass.denominator) for mass in pairs] for pairs in run]
    first = [mass.numerator * (unit // mass.denominator) for mass in base]
    drafts, targets = (accumulate(column) for column in zip(first, *steps, strict=True))
    scale, other = pair.draft_scale, pair.target_scale
    drafted = scale.numerator**pair.count * other.denominator * unit
    kept = other.numerator * (scale.denominator * unit) ** pair.count
    ends = zip(drafts, targets, strict=True)
    best = max(ends, key=lambda end: end[0] ** pair.count * drafted - end[1] * kept)
    return pair.excess(Fraction(best[0], unit), Fraction(best[1], unit))
