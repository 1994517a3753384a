"""How many target calls an output of a given length takes: a renewal recursion, exact."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from fractions import Fraction
from math import lcm

_MOST_WORK = 3_000_000_000
"""Bits that the recursion may touch: about a second."""


def expected_calls(law: Mapping[int, Fraction], tokens: int) -> Fraction:
    """Expected steps until at least ``tokens`` tokens are out, from the law of tokens a step.

    ``R(n) = 1 + sum_k Pr(k tokens) R(n - k)``, ``R(n) = 0`` for n <= 0: steps are independent of
    each other and have the same law, and the last one may emit more than is needed. Every k is at
    least 1. Worked out over powers of one denominator, so that no fraction is reduced on the way.
    """
    base, weights = _over_one_base(law)
    longest = max(weights)
    last: deque[int] = deque(maxlen=longest)  # A(n), with R(n) = A(n) / base^n
    power = 1
    for _ in range(tokens):
        power *= base
        total = power
        for k, weight in weights.items():
            if k <= len(last):
                total += weight * last[-k]
        last.append(total)
    return Fraction(last[-1], power) if tokens else Fraction(0)


def calls_bounds(expected: Fraction, most: int, tokens: int) -> tuple[Fraction, Fraction]:
    """``N / E <= R(N) <= (N + m - 1) / E``, m the most tokens of a step.

    By Wald's equation ``E R(N)`` is the expected number of tokens emitted, which is at least N and
    at most N + m - 1, as the step before the last has left at least one token to emit.
    """
    return tokens / expected, (tokens + most - 1) / expected


def is_quick(law: Mapping[int, Fraction], tokens: int) -> bool:
    """Whether `expected_calls` takes a second or so."""
    base, weights = _over_one_base(law)
    return tokens * tokens * base.bit_length() * len(weights) <= _MOST_WORK


def _over_one_base(law: Mapping[int, Fraction]) -> tuple[int, dict[int, int]]:
    """A base b, and the whole numbers ``law[k] b^k``. Laws such as ``a^(k-1) (1 - a)`` need the
    denominator of a only; the common denominator of all always serves."""
    possible = {k: mass for k, mass in law.items() if mass}
    every = lcm(*(mass.denominator for mass in possible.values()))
    denominators = sorted({mass.denominator for mass in possible.values()})
    base = next(
        (
            d
            for d in denominators
            if all(pow(d, k, m.denominator) == 0 for k, m in possible.items())
        ),
        every,
    )
    return base, {k: int(mass * base**k) for k, mass in possible.items()}
