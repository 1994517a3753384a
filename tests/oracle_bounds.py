"""The overlap of two partly known distributions, by brute force over few tokens.

Independent on purpose: nothing here imports specdist. A side is a box ``t low <= p <= t high +
extra`` for every token of a small vocabulary, with a scale ``least <= t <= most``, cut by ``sum p =
1``. Both ends come twice. The least overlap: over all pairs of corners of the two polytopes (the
overlap is concave), and over all sets of tokens with a linear programme for each side. The largest:
as one linear programme. A matrix of corners is small up to six or seven tokens.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product

from tests.oracle_joint import ONE, ZERO, total
from tests.oracle_optima import maximum, subsets

Row = Sequence[Fraction]
BIG = Fraction(10**12)


@dataclass(frozen=True)
class Side:
    """Bounds of every token; ``extra`` is not scaled."""

    low: tuple[Fraction, ...]
    high: tuple[Fraction, ...]
    extra: tuple[Fraction, ...]
    least: Fraction = ONE
    most: Fraction = ONE

    @property
    def size(self) -> int:
        return len(self.low)

    def holds(self, p: Row) -> bool:
        """Whether some scale makes the row fit."""
        least, most = self.least, self.most
        for value, low, high, extra in zip(p, self.low, self.high, self.extra, strict=True):
            if low:
                most = min(most, value / low)
            elif value < 0:
                return False
            if value > extra:
                if not high:
                    return False
                least = max(least, (value - extra) / high)
        return total(p) == 1 and least <= most


def side(
    size: int,
    listed: Mapping[int, tuple[Fraction, Fraction]],
    cap: Fraction | None = None,
    impossible: Sequence[int] = (),
    least: Fraction = ONE,
    most: Fraction = ONE,
) -> Side:
    """A side of which some tokens are listed with their bounds. ``cap`` None: an unlisted token
    holds anything up to one."""
    low, high, extra = [], [], []
    for token in range(size):
        open_ended = token not in listed and token not in impossible
        bounds = listed.get(token, (ZERO, cap if open_ended and cap is not None else ZERO))
        low.append(bounds[0])
        high.append(bounds[1])
        extra.append(ONE if open_ended and cap is None else ZERO)
    return Side(tuple(low), tuple(high), tuple(extra), least, most)


def overlap_of(p: Row, q: Row) -> Fraction:
    return total(min(a, b) for a, b in zip(p, q, strict=True))


def corners(some: Side) -> set[tuple[Fraction, ...]]:
    """Rows that are no mixture of others, and a few more: all tokens at a bound and the scale free,
    or the scale at an end and one token free."""
    found = set()
    for ends in product((0, 1), repeat=some.size):
        slope = total((some.low, some.high)[e][x] for x, e in enumerate(ends))
        fixed = total(some.extra[x] for x, e in enumerate(ends) if e)
        scales = [(ONE - fixed) / slope] if slope else []
        for t in [*scales, some.least, some.most]:
            if not some.least <= t <= some.most:
                continue
            p = [(t * some.low[x], t * some.high[x] + some.extra[x])[e] for x, e in enumerate(ends)]
            rest = ONE - total(p)
            for x in range(some.size):
                q = [*p[:x], p[x] + rest, *p[x + 1 :]]
                if t * some.low[x] <= q[x] <= t * some.high[x] + some.extra[x]:
                    found.add(tuple(q))
                if not rest:
                    break
    return found


def least_overlap(target: Side, draft: Side) -> Fraction:
    """Over all pairs of corners."""
    second = corners(draft)
    return min(overlap_of(p, q) for p in corners(target) for q in second)


def least_overlap_by_sets(target: Side, draft: Side) -> Fraction:
    """min over S of min p(S) + min q(not S), two linear programmes a set."""
    tokens = range(target.size)
    return min(
        least_mass(target, inside) + least_mass(draft, [x for x in tokens if x not in inside])
        for inside in subsets(tokens)
    )


def least_mass(some: Side, tokens: Sequence[int]) -> Fraction:
    """min p(tokens), by a linear programme."""
    rows, limits = _rows(some, 0, some.size + 1)
    gain = _mass(some, [BIG - int(x in tokens) for x in range(some.size)])
    found = maximum(gain, rows, limits) + _constant(some, BIG) - BIG
    return -(found - _constant(some, ONE, tokens))


def largest_overlap(target: Side, draft: Side) -> Fraction:
    """max sum m(x) with m <= p, m <= q: one linear programme."""
    size = target.size
    width = 3 * size + 2
    rows, limits = _rows(target, 0, width)
    more, further = _rows(draft, size + 1, width)
    rows, limits = rows + more, limits + further
    for x in range(size):
        for some, start in ((target, 0), (draft, size + 1)):
            row = [ZERO] * width
            row[2 * size + 2 + x] = ONE
            row[start + x], row[start + size] = -ONE, -some.low[x]
            rows.append(row)
            limits.append(some.low[x] * some.least)
    gain = [*_mass(target, [BIG] * size), *_mass(draft, [BIG] * size), *[ONE] * size]
    reached = maximum(gain, rows, limits)
    return reached + _constant(target, BIG) + _constant(draft, BIG) - 2 * BIG


def _rows(some: Side, start: int, width: int) -> tuple[list[list[Fraction]], list[Fraction]]:
    """Variables v(x) and w at ``start``, for ``t = least + w`` and ``p(x) = t low(x) + v(x)``; the
    sum stays at one or below, and the gain drives it there."""
    size = some.size
    rows, limits = [], []
    for x in range(size):
        row = [ZERO] * width
        row[start + x], row[start + size] = ONE, some.low[x] - some.high[x]
        rows.append(row)
        limits.append(some.least * (some.high[x] - some.low[x]) + some.extra[x])
    row = [ZERO] * width
    row[start : start + size + 1] = [ONE] * size + [total(some.low)]
    rows.append(row)
    limits.append(ONE - some.least * total(some.low))
    row = [ZERO] * width
    row[start + size] = ONE
    rows.append(row)
    limits.append(some.most - some.least)
    return rows, limits


def _mass(some: Side, weights: Sequence[Fraction]) -> list[Fraction]:
    """``sum weights p`` as a gain of the variables."""
    return [*weights, total(w * low for w, low in zip(weights, some.low, strict=True))]


def _constant(some: Side, weight: Fraction, tokens: Sequence[int] | None = None) -> Fraction:
    kept = range(some.size) if tokens is None else tokens
    return weight * some.least * total(some.low[x] for x in kept)


def emission(
    roles: Sequence[Row], zero_chance: Fraction, spare: int | None
) -> tuple[list[Fraction], list[Fraction], Fraction]:
    """Accepted and output mass by token, and the largest mass by which some set of tokens falls
    short of the reference, for token verification with every role on its own: reference, accept
    target, residual target, drafted from, accept draft, residual draft.

    A drafted token that the test gives no probability is accepted with ``zero_chance``. Where there
    is no residual the rejected mass goes to the token ``spare``, or nowhere.
    """
    reference, p, s, d, q, u = roles
    tokens = range(len(p))
    accepted = [d[x] * (min(ONE, p[x] / q[x]) if q[x] else zero_chance) for x in tokens]
    excess = [max(s[x] - u[x], ZERO) for x in tokens]
    rejected, room = ONE - total(accepted), total(excess)
    output = list(accepted)
    if room:
        output = [accepted[x] + rejected * excess[x] / room for x in tokens]
    elif spare is not None:
        output[spare] += rejected
    return accepted, output, total(max(reference[x] - output[x], ZERO) for x in tokens)
