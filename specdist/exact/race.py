"""A race of exponentials run twice: who wins the second, given who won the first.

The first race has rates d, ``E(x) / d(x)`` with standard exponentials E; its winner x arrives at
T, exponential of rate ``sum d``. Given that, ``E(y) = d(y) T + fresh`` for y other than x, and
``E(x) = d(x) T``. In the second race, with rates r, y starts at ``c(y) T`` with ``c = d / r`` and
then arrives at rate r(y); x arrives at ``c(x) T``. In units of T, with the clocks up to the k-th
start running, ``R = sum r``, ``C = sum r c`` over them,

    P(none has arrived by s) = 1 / (1 + (R s - C)),    P(y wins) = r(y) sum_k W_k,
    W_k = (1 / (1 + R_k c_k - C_k) - 1 / (1 + R_k c_(k+1) - C_k)) / R_k,

the sum over the intervals from y's start on, up to the arrival of x. The first formula takes
``sum d = 1`` and ``sum r = 1``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction

_ZERO, _ONE = Fraction(0), Fraction(1)
Rates = Mapping[int, Fraction]


def race_after(first: Rates, second: Rates, winner: int) -> dict[int, Fraction]:
    """Law of the winner of the second race, where ``winner`` won the first."""
    racing = {y: first.get(y, _ZERO) / r for y, r in second.items() if r and y != winner}
    end = first[winner] / second[winner] if second.get(winner) else None
    order = sorted((y for y in racing if end is None or racing[y] < end), key=racing.__getitem__)
    starts = [racing[y] for y in order]
    weights, left = _weights([second[y] for y in order], starts, end)
    found: dict[int, Fraction] = {} if end is None else {winner: left}
    later = _ZERO
    for y, weight in zip(reversed(order), reversed(weights), strict=True):
        later += weight
        found[y] = second[y] * later
    return found


def _weights(
    rates: Sequence[Fraction], starts: Sequence[Fraction], end: Fraction | None
) -> tuple[list[Fraction], Fraction]:
    """The W_k, and the probability that nobody has arrived at the end."""
    running = offset = _ZERO
    surviving, weights = _ONE, []
    for place, (rate, start) in enumerate(zip(rates, starts, strict=True)):
        running, offset = running + rate, offset + rate * start
        following = starts[place + 1] if place + 1 < len(starts) else end
        after = _ZERO if following is None else 1 / (1 + running * following - offset)
        weights.append((surviving - after) / running)
        surviving = after
    return weights, surviving


def race_error(
    first: Rates, second: Rates, winner: int, first_error: Fraction, second_error: Fraction
) -> Fraction:
    """How far the law of the second winner may be from that of rates d (1 + e), |e| at most
    ``first_error``, and r of L1 distance at most ``second_error``.

    Two processes of arrivals that share the smaller of two intensities differ with probability at
    most the expected integral of the difference up to the first arrival t. With the rates and the
    starts c, c' that is at most ``sum |r - r'| E t + sum E r |min(c T, t) - min(c' T, t)|``, where
    ``E T = 1``, ``E t <= 2 / (1 - r(x))``, and ``r |c - c'| <= |d - d'| + d' |r - r'| / r'``. The
    winner's own arrival moves by ``|c(x) - c'(x)| T``, where others arrive at a rate of at most 1.
    """
    if not first_error and not second_error:
        return _ZERO
    own = second.get(winner, _ZERO)
    mean = min(2 / (1 - own), Fraction(2**40)) if own < 1 else Fraction(2**40)
    moved = second_error * mean
    for y, rate in second.items():
        mass = first.get(y, _ZERO)
        if y == winner:
            mean_shift = _shift(mass, rate, first_error, second_error)
            moved += _ONE if not rate else mean_shift / rate
        elif rate:
            moved += min(_shift(mass, rate, first_error, second_error), rate * mean)
    return min(2 * moved, Fraction(2))


def _shift(
    mass: Fraction, rate: Fraction, first_error: Fraction, second_error: Fraction
) -> Fraction:
    """``r |d / r - d' / r'|`` at most."""
    if rate <= second_error:
        return Fraction(2**40)
    raised = mass * (1 + first_error)
    return mass * first_error + raised * second_error / (rate - second_error)
