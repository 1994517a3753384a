"""The Gumbel race with uniforms on a grid, exactly.

Every token x draws u uniform on ``{1 .. N}/N`` and runs ``ln(u) / w(x)``; the largest value wins,
ties go to the first id. An event is one token with one grid point; it is the better the smaller
``g = ln(-ln u) - ln w(x)``, and ``u = 1`` is best of all. Events are put in order by decimals of
rising precision. Ties are told exactly: with ``u = r^e``, r a rational that is no power of another
one, two events of equal value have equal r, or weights whose ratio is a quotient of logarithms of
different r, which no algebraic ratio is (Gelfond and Schneider). What neither the weights nor 320
digits tell apart counts as a tie.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from functools import cache, lru_cache
from itertools import pairwise
from math import gcd, lcm
from typing import NamedTuple

from specdist.errors import SettingsError
from specdist.processing.logit import (
    DIGITS,
    POWER_BITS,
    Logit,
    as_decimal,
    decimal_context,
    enclosed,
)

MOST_EVENTS = 16_384
MOST_TOKENS = 512
"""Limits of the exact enumeration: tokens times grid points, and tokens."""


class Event(NamedTuple):
    """A token with the uniform ``root ** exponent``."""

    token: int
    root: Fraction
    exponent: int


class Race(NamedTuple):
    """The law of the winner, and whether an error of the logits could change an order."""

    law: dict[int, Fraction]
    close: bool


def race(logits: Mapping[int, Logit], points: int, slack: Fraction) -> Race:
    """The exact law of the race; ``slack`` bounds the error of each logit."""
    tokens = sorted(logits)
    events = [Event(x, *_power(Fraction(k, points))) for x in tokens for k in range(1, points)]
    groups = [] if points == 1 else _ordered(logits, events, 0)
    best = [Event(x, Fraction(1), 1) for x in tokens]
    wins = _wins(tokens, [[e.token for e in group] for group in [best, *groups]])
    whole = points ** len(tokens)
    law = {x: Fraction(count, whole) for x, count in wins.items() if count}
    return Race(law, bool(slack) and _close(logits, groups, slack))


def refuse_long_race(tokens: int, points: int) -> None:
    """Raises SettingsError for a race that is too long to be enumerated."""
    if tokens > MOST_TOKENS or tokens * points > MOST_EVENTS:
        raise SettingsError(
            f"gumbel-race:{points} on {tokens} possible tokens is too long to enumerate",
            expected=f"at most {MOST_TOKENS} tokens, and {MOST_EVENTS} tokens times points",
            advice="cut the row first, as in top-k:10,gumbel-race:1024",
        )


def _wins(tokens: Sequence[int], groups: list[list[int]]) -> dict[int, int]:
    """How many of the ``points ** tokens`` outcomes each token wins; ``groups`` of tied events,
    best first."""
    behind = dict.fromkeys(tokens, 0)
    wins = dict.fromkeys(tokens, 0)
    product, without = 1, len(tokens)  # of the counts that are not 0, and how many are
    for group in reversed(groups):
        members = sorted(group)
        for x in members:
            product, without = (
                (product // behind[x], without) if behind[x] else (product, without - 1)
            )
        others = 0 if without else product
        tails = [others]
        for x in reversed(members):
            tails.append(tails[-1] * (behind[x] + 1))
        before = 1
        for x, after in zip(members, reversed(tails[:-1]), strict=True):
            wins[x] += before * after
            before *= behind[x]
        for x in members:
            behind[x] += 1
            product *= behind[x]
    return wins


def _ordered(logits: Mapping[int, Logit], events: list[Event], level: int) -> list[list[Event]]:
    """Events in groups of equal value, best first."""
    value, error = _values(logits, DIGITS[level])
    known = {event: value(event) for event in events}
    order = sorted(events, key=known.__getitem__)
    clusters = [[order[0]]]
    for one, other in pairwise(order):
        if known[other] - known[one] > error:
            clusters.append([other])
        else:
            clusters[-1].append(other)
    groups: list[list[Event]] = []
    for cluster in clusters:
        ties = _ties(logits, cluster)
        if len(ties) == 1:
            groups.append(ties[0])
        elif level + 1 == len(DIGITS):
            groups.append(cluster)
        else:
            leaders = {tied[0]: tied for tied in ties}
            for group in _ordered(logits, list(leaders), level + 1):
                groups.append([event for leader in group for event in leaders[leader]])
    return groups


def _values(logits: Mapping[int, Logit], digits: int) -> tuple[Callable[[Event], Decimal], Decimal]:
    """``g`` of an event to about ``digits`` digits, and the distance from which two are apart.

    ``ln u`` is off by one unit of the last digit and ``u`` by two, so the inner logarithm, at
    least 1/16,385 in size, by 10^5 units relatively; the logits bring their own errors.
    """
    context = decimal_context(digits)
    worths = {x: enclosed(logit, digits) for x, logit in logits.items()}

    @cache
    def noise(root: Fraction) -> Decimal:
        return context.abs(as_decimal(root, context).ln(context)).ln(context)

    @cache
    def height(exponent: int) -> Decimal:
        return Decimal(exponent).ln(context)

    def value(event: Event) -> Decimal:
        outer = context.add(height(event.exponent), noise(event.root))
        return context.subtract(outer, worths[event.token][0])

    widest = max(abs(worth) for worth, _ in worths.values()) + 100
    error = 2 * max(error for _, error in worths.values())
    return value, error + widest * Decimal(10) ** (8 - digits)


def _ties(logits: Mapping[int, Logit], cluster: list[Event]) -> list[list[Event]]:
    ties: list[list[Event]] = []
    for event in cluster:
        for tied in ties:
            if _tied(logits, tied[0], event):
                tied.append(event)
                break
        else:
            ties.append([event])
    return ties


def _tied(logits: Mapping[int, Logit], one: Event, other: Event) -> bool:
    """Whether ``w(one) / w(other)`` is the ratio of the exponents of one common root."""
    if one.root != other.root:
        return False
    left, right = logits[one.token], logits[other.token]
    ratio = Fraction(one.exponent, other.exponent)
    if left == right:
        return ratio == 1
    if left.shift != right.shift:
        return False
    common = lcm(left.power.denominator, right.power.denominator)
    powers = [int(logit.power * common) for logit in (left, right)]
    bits = [
        power * max(z.base.numerator.bit_length(), z.base.denominator.bit_length())
        for power, z in zip(powers, (left, right), strict=True)
    ]
    if max(*bits, common * 16) > POWER_BITS:
        return False
    return bool(left.base ** powers[0] == right.base ** powers[1] * ratio**common)


def _close(logits: Mapping[int, Logit], groups: list[list[Event]], slack: Fraction) -> bool:
    """Whether two events of different tokens lie within twice ``slack`` of each other."""
    value, error = _values(logits, DIGITS[0])
    limit = as_decimal(2 * slack, decimal_context(DIGITS[0])) + error
    order = [event for group in groups for event in group]
    return any(
        one.token != other.token and value(other) - value(one) <= limit
        for one, other in pairwise(order)
    )


@lru_cache(maxsize=1 << 16)
def _power(value: Fraction) -> tuple[Fraction, int]:
    """(r, e) with ``value = r ** e`` and e as large as it can be; 0 < value < 1."""
    exponent = gcd(*_exponents(value.numerator), *_exponents(value.denominator))
    if exponent == 1:
        return value, 1
    return Fraction(_root(value.numerator, exponent), _root(value.denominator, exponent)), exponent


def _exponents(whole: int) -> list[int]:
    """The exponents of the prime factors of ``whole``."""
    found = []
    prime = 2
    while prime * prime <= whole:
        exponent = 0
        while whole % prime == 0:
            whole //= prime
            exponent += 1
        if exponent:
            found.append(exponent)
        prime += 1
    return [*found, 1] if whole > 1 else found


def _root(whole: int, degree: int) -> int:
    root: int = round(whole ** (1 / degree))
    return next(near for near in (root, root - 1, root + 1) if near**degree == whole)
