"""The last success where a running product of uniforms is compared with thresholds.

Law. With independent uniforms u_1 .. u_g, success at i is ``u_1 .. u_i <= h_i``, and tau is the
last success (0 if none). ``T_i = -ln(u_1 .. u_i)`` are the arrivals of a Poisson process N of rate
1, so no success behind k means ``N(s_j) >= j`` for j = k+1 .. g with ``s_j = -ln m_j`` and
``m_j = max(h_j, .., h_g)``:

    Pr(tau <= k) = 1 - sum_(n <= k) pmf(n; s_(k+1))
                     - sum_(j = k+2 .. g) f_(j-1)(j-1) m_j / m_(j-1)

where f_j(n) = Pr(N(s_j) = n, no failure up to j) and pmf(n; d) = exp(-d) d^n / n!. The exponentials
are quotients of thresholds, so the only irrational numbers are the logarithms, and what is
subtracted rises with each of them: two evaluations enclose the probability.
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from itertools import pairwise
from math import factorial

from specdist.exact.bounded import error_of, plain
from specdist.exact.decimals import as_decimal, decimal_context
from specdist.exact.rational_vector import rounded_up
from specdist.rules.joint.stops import Stops

_DIGITS = 60
_GRID = 1 << 160
_ERROR = Fraction(1, 1 << 158)
_ZERO, _ONE = Fraction(0), Fraction(1)

_Masses = dict[int, Fraction]


def stops_under_products(thresholds: tuple[Fraction, ...]) -> Stops:
    """The law of tau (module docstring). Where logarithms remain, every chance is a multiple of
    2**-160 and off by at most 2**-158, and more where the thresholds were rounded; where none
    remains it is exact."""
    lower = tuple(max(plain(h) - error_of(h), _ZERO) for h in thresholds)
    upper = tuple(min(plain(h) + error_of(h), _ONE) for h in thresholds)
    return _stops_between(lower, upper)


@lru_cache(maxsize=4_096)
def _stops_between(lower: tuple[Fraction, ...], upper: tuple[Fraction, ...]) -> Stops:
    at_most, widest = [_ONE], _ZERO
    for last in range(len(lower) - 1, -1, -1):
        if upper[last] <= max(lower[last + 1 :], default=_ZERO):
            at_most.append(at_most[-1])  # a success there is followed by another
            continue
        low, high = _enclosed(last, lower, upper)
        chance = low
        if low != high:
            chance = Fraction(round((low + high) / 2 * _GRID), _GRID)
            apart = _ZERO if lower == upper else rounded_up(high - low)
            widest = max(widest, apart + _ERROR)
        at_most.append(max(min(chance, at_most[-1]), _ZERO))
    at_most.reverse()
    return Stops((at_most[0], *(above - below for below, above in pairwise(at_most))), widest)


def _enclosed(
    last: int, lower: tuple[Fraction, ...], upper: tuple[Fraction, ...]
) -> tuple[Fraction, Fraction]:
    """Pr(tau <= last) between two numbers: at most 2**-160 apart, unless the thresholds, which it
    falls with, leave more open."""
    digits = _DIGITS
    while True:
        low = _none_behind(last, upper, digits)
        high = _none_behind(last, lower, -digits)
        if lower != upper or (high - low) * _GRID <= 1:
            return low, high
        digits *= 2


def _none_behind(last: int, thresholds: tuple[Fraction, ...], digits: int) -> Fraction:
    """Pr(tau <= last) with every logarithm at an end of its enclosure: see `_logarithm`."""
    failed, before, reached = _ZERO, _ONE, {0: _ONE}
    for index in range(last, len(thresholds)):
        highest = max(thresholds[index:])
        if not highest:
            break
        decay, elapsed = highest / before, _logarithm(before / highest, digits)
        after = _later(reached, len(thresholds), decay, elapsed)
        failed += sum((mass for count, mass in after.items() if count <= index), _ZERO)
        reached = {count: mass for count, mass in after.items() if count > index}
        before = highest
    return 1 - failed


def _later(reached: _Masses, most: int, decay: Fraction, elapsed: Fraction) -> _Masses:
    """The counts below ``most`` after a time with ``exp(-time)`` = decay."""
    after: _Masses = {}
    for count, mass in reached.items():
        for more in range(most - count):
            arriving = decay * elapsed**more / factorial(more)
            after[count + more] = after.get(count + more, _ZERO) + mass * arriving
    return after


def _logarithm(ratio: Fraction, digits: int) -> Fraction:
    """The upper end of an enclosure of ``ln ratio`` to so many digits, or the lower one where they
    are negative; exact for 1.

    The quotient is off by 2 units of the last place, the logarithm by one more.
    """
    if ratio == 1:
        return _ZERO
    context = decimal_context(abs(digits))
    found = Fraction(as_decimal(ratio, context).ln(context))
    error = (abs(found) + 4) * Fraction(1, 10 ** (abs(digits) - 2))
    return max(found + error if digits > 0 else found - error, _ZERO)
