"""Products of two partial laws: what is accepted where the test is ``x = y`` or ``u < P(x)``.

For D (`drafted_from`) and P (`accept_target`), with A the tokens listed by both, u the most that
one unlisted token can have and R the unlisted mass,

    sum_A D P  <=  sum D P  <=  sum_A D P + min(u_P D(C), R_P max_C D) + R_D max(u_P, max_B P),

where C is listed by D only, B by P only, and every factor is taken at its end of the interval; the
same holds with the two laws exchanged, and the smaller bound counts.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Collection
from fractions import Fraction
from typing import NamedTuple

from specdist.exact.interval import Interval
from specdist.exact.overlap_bounds import rest_of, share_of
from specdist.exact.partial_law import PartialLaw

_ZERO, _ONE = Fraction(0), Fraction(1)


def share_at(law: PartialLaw, token: int) -> Interval:
    """The probability of a token, listed or not."""
    index = index_of(law, token)
    return Interval(_ZERO, unlisted_most(law)) if index is None else share_of(law, index)


def unlisted_most(law: PartialLaw) -> Fraction:
    """The most that one unlisted token can have."""
    if law.others == 0:
        return _ZERO
    rest = rest_of(law).most
    return rest if law.cap is None else min(rest, law.cap * law.scale.most)


def index_of(law: PartialLaw, token: int) -> int | None:
    """Where a token stands in the list of a law, None where it is not listed."""
    index = bisect_left(law.ids, token)
    return index if index < len(law.ids) and law.ids[index] == token else None


def product_of(first: Interval, second: Interval) -> Interval:
    """The product of two numbers that are not negative."""
    return Interval(first.least * second.least, first.most * second.most)


def inner_product(first: PartialLaw, second: PartialLaw) -> Interval:
    """The interval of ``sum_x p(x) q(x)`` over all distributions that two laws stand for."""
    short, long = sorted((first, second), key=lambda law: len(law.ids))
    pairs = {
        i: index
        for i, token in enumerate(short.ids)
        if (index := index_of(long, int(token))) is not None
    }
    shares = [(share_of(short, i), share_of(long, index)) for i, index in pairs.items()]
    products = [product_of(*pair) for pair in shares]
    one = _side(short, pairs.keys(), sum((share.least for share, _ in shares), _ZERO))
    two = _side(long, pairs.values(), sum((share.least for _, share in shares), _ZERO))
    most = sum((product.most for product in products), _ZERO)
    most += min(_beyond(one, two), _beyond(two, one))
    return Interval(sum((product.least for product in products), _ZERO), min(most, _ONE))


class _Side(NamedTuple):
    """At most: the mass of a law on tokens that only it lists, the likeliest of those, its unlisted
    mass, and one unlisted token."""

    apart: Fraction
    largest: Fraction
    rest: Fraction
    unlisted: Fraction


def _beyond(one: _Side, two: _Side) -> Fraction:
    """The most that the products come to where not both laws list the token: where only the first
    does, and everywhere else."""
    alone = min(two.unlisted * one.apart, two.rest * one.largest)
    return alone + one.rest * max(two.largest, two.unlisted)


def _side(law: PartialLaw, shared: Collection[int], mass: Fraction) -> _Side:
    """``shared`` are the entries that both laws list, ``mass`` what the law has at least there."""
    apart = max(_ONE - mass, _ZERO)
    largest = _largest(law, shared) * law.scale.most
    rest = _ZERO if law.others == 0 else rest_of(law).most
    return _Side(apart, min(apart, largest), rest, unlisted_most(law))


def _largest(law: PartialLaw, left_out: Collection[int]) -> Fraction:
    if isinstance(law.high, tuple):
        skipped = set(left_out)
        return max((high for i, high in enumerate(law.high) if i not in skipped), default=_ZERO)
    high = law.high.copy()
    high[list(left_out)] = 0
    return Fraction(float(high.max(initial=0)))
