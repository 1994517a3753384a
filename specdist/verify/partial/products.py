"""Products of two partial laws: what is accepted where the test is ``x = y`` or ``u < P(x)``.

For D (`drafted_from`) and P (`accept_target`), with A the tokens listed by both, u the most that
one unlisted token can have and R the unlisted mass,

    sum_A D P  <=  sum D P  <=  sum_A D P + min(u_P D(C), R_P max_C D) + min(u_D P(B), R_D max_B P)
                                + min(u_D R_P, u_P R_D),

where C is listed by D only, B by P only, and every factor is taken at its end of the interval.
"""

from __future__ import annotations

from bisect import bisect_left
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
    pairs = [
        (share_of(short, i), share_of(long, index))
        for i, token in enumerate(short.ids)
        if (index := index_of(long, int(token))) is not None
    ]
    products = [product_of(*pair) for pair in pairs]
    least = sum((product.least for product in products), _ZERO)
    most = sum((product.most for product in products), _ZERO)
    one = _side(short, sum((pair[0].least for pair in pairs), _ZERO))
    two = _side(long, sum((pair[1].least for pair in pairs), _ZERO))
    most += min(two.unlisted * one.apart, two.rest * one.largest)
    most += min(one.unlisted * two.apart, one.rest * two.largest)
    most += min(one.unlisted * two.rest, two.unlisted * one.rest)
    return Interval(least, min(most, _ONE))


class _Side(NamedTuple):
    """At most: the mass of a law on tokens that only it lists, the likeliest of those, its unlisted
    mass, and one unlisted token."""

    apart: Fraction
    largest: Fraction
    rest: Fraction
    unlisted: Fraction


def _side(law: PartialLaw, shared: Fraction) -> _Side:
    """``shared`` is the mass that it has at least on the tokens that both laws list."""
    apart = max(_ONE - shared, _ZERO)
    largest = Fraction(max(map(Fraction, _highest(law)), default=_ZERO)) * law.scale.most
    rest = _ZERO if law.others == 0 else rest_of(law).most
    return _Side(apart, min(apart, largest), rest, unlisted_most(law))


def _highest(law: PartialLaw) -> list[Fraction]:
    if not len(law.high):
        return []
    return [Fraction(max(law.high) if isinstance(law.high, tuple) else float(law.high.max()))]
