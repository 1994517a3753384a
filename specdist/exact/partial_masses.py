"""Masses of sets of tokens under a partial law, in closed form.

With a scale t a distribution of a `PartialLaw` lies in a box: ``t low <= p <= t high + extra``,
where ``extra`` is a bound that the scale leaves alone (an unlisted token without a cap holds at
most the whole rest). The mass of a set S is least where its tokens are at their lower bounds, or
where all others are at their upper ones:

    min p(S) = min over t of max(t L, 1 - E - t W)
             = max(t_0 L, 1 - E - t_1 W, (1 - E) L / (L + W)),

L = sum of ``low`` in S, W and E = sums of ``high`` and ``extra`` outside S, t_0 <= t <= t_1 the
scales that some distribution has. (The first term rises and the second falls with t; where they
cross within the range, the third is their common value and the largest of the three, otherwise it
is none of the largest.)
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import NamedTuple

from specdist.exact.interval import Interval
from specdist.exact.partial_law import PartialLaw

SMALL = 400
"""Up to so many listed tokens, all laws together, figures are worked out in fractions."""

_ZERO, _ONE = Fraction(0), Fraction(1)


class Box(NamedTuple):
    """Bounds of one probability, or of a sum of some: ``t low <= p <= t high + extra``."""

    low: Fraction = _ZERO
    high: Fraction = _ZERO
    extra: Fraction = _ZERO

    def __bool__(self) -> bool:
        """Whether it can be above 0."""
        return self.high > 0 or self.extra > 0


def least_mass(scale: Interval, low: Fraction, high: Fraction, extra: Fraction) -> Fraction:
    """``min p(S)`` of the module, with L = ``low``, W = ``high``, E = ``extra``."""
    least = max(scale.least * low, _ONE - extra - scale.most * high)
    if low and extra < 1:
        return max(least, (_ONE - extra) * low / (low + high))
    return least


class Totals(NamedTuple):
    """A law as a whole: the box of all listed tokens, what one unlisted token may hold and what
    all of them may, and the scales that some distribution has."""

    listed: Box
    unlisted: Box
    rest: Box
    scale: Interval


def totals(law: PartialLaw, listed: Box) -> Totals:
    """``listed``: the sums of ``low`` and ``high``, or an outward rounding of them. Raises
    ValueError, with the clause of `overlap_bounds.contradiction`, where nothing satisfies the
    constraints."""
    cap, others = law.cap, law.others
    room, unbounded = _ZERO, False
    if others != 0 and cap != 0:
        unbounded = cap is None or others is None
        room = _ZERO if cap is None or others is None else cap * others
    first, last = law.scale.least, law.scale.most
    if listed.low * first > 1:
        raise ValueError(f"the listed tokens hold {_short(listed.low * first)} at least")
    if listed.low > 0:
        last = min(last, 1 / listed.low)
    if not unbounded:
        most = listed.high + room
        if last * most < 1:
            raise ValueError(f"all tokens together hold {_short(last * most)} at most")
        first = max(first, 1 / most)
    scale = Interval(first, last)
    if not unbounded and not room:
        return Totals(listed, Box(), Box(), scale)
    rest = _ONE - first * listed.low
    one = _within(rest, cap, first)
    return Totals(listed, one, _within(rest, None if unbounded else room, first), scale)


def _within(rest: Fraction, high: Fraction | None, first: Fraction) -> Box:
    """What unlisted tokens may hold: a bound that lets them hold all of the rest says nothing."""
    return Box(extra=rest) if high is None or first * high >= rest else Box(high=high)


def totals_of(law: PartialLaw) -> Totals:
    """`totals` with the sums of the listed bounds: exact for fractions, otherwise rounded outwards.
    Raises ValueError as it does."""
    if isinstance(law.low, tuple) and isinstance(law.high, tuple):
        return totals(law, summed(law.low, law.high))
    from specdist.exact.float_masses import sums

    return totals(law, sums(law))


def share(law: PartialLaw, whole: Totals, place: int | None) -> Interval:
    """The probability of the token that is listed at ``place``; for None, of an unlisted one.
    ``whole``: the law as a whole."""
    scale, listed, rest = whole.scale, whole.listed, whole.rest
    if place is None:
        high, extra = whole.unlisted.high, whole.unlisted.extra
        return Interval(_ZERO, 1 - least_mass(scale, listed.low, high, extra))
    low, high = Fraction(law.low[place]), Fraction(law.high[place])
    least = least_mass(scale, low, max(listed.high - high, _ZERO) + rest.high, rest.extra)
    return Interval(least, 1 - least_mass(scale, max(listed.low - low, _ZERO), high, _ZERO))


def negligible(sides: Sequence[Totals]) -> Fraction:
    """A thousandth of what the bounds of listed tokens and the scales leave open: it is not worth
    a long search to know an end more closely."""
    open_masses = (
        side.scale.most * side.listed.high - side.scale.least * side.listed.low for side in sides
    )
    return sum(open_masses, _ZERO) / 1024


def free_scale(listed: Box) -> Interval:
    """All scales at which listed tokens alone may sum to one."""
    return Interval(1 / listed.high, 1 / listed.low)


def summed(low: Sequence[Fraction], high: Sequence[Fraction]) -> Box:
    """The box of all listed tokens together."""
    return Box(sum(low, _ZERO), sum(high, _ZERO))


def _short(value: Fraction) -> str:
    return str(value) if value.denominator < 10_000 else f"{float(value):.6g}"
