"""Rows that are known in part, by brute force. Imports nothing from specdist.

A complete row is a list of Fraction. What its listed tokens leave open is enumerated: every
arrangement of the unlisted mass that is extreme for a sum of powers, and a grid of others.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from decimal import Decimal, localcontext
from fractions import Fraction

from tests import oracle_processing as whole

DIGITS = 90
SAME = Fraction(1, 10**60)
Row = list[Fraction]


def decimal_of(value: Fraction) -> Decimal:
    return Decimal(value.numerator) / Decimal(value.denominator)


def powered(value: Fraction, exponent: Fraction) -> Fraction:
    """``value ** exponent``, exact for whole exponents, else to 90 digits."""
    if exponent.denominator == 1 or value in (0, 1):
        return value ** int(exponent) if exponent.denominator == 1 else value
    with localcontext() as context:
        context.prec = DIGITS
        return Fraction((decimal_of(value).ln() * decimal_of(exponent)).exp())


def logarithm(value: Fraction) -> Fraction:
    with localcontext() as context:
        context.prec = DIGITS
        return Fraction(decimal_of(value).ln())


def exponential(value: Fraction) -> Fraction:
    with localcontext() as context:
        context.prec = DIGITS
        return Fraction(decimal_of(value).exp())


def tempered(row: Row, temperature: Fraction) -> Row:
    return whole.renormalised([powered(p, 1 / temperature) if p else p for p in row])


def biased(row: Row, changes: dict[int, Fraction]) -> Row:
    return whole.renormalised(
        [p * exponential(changes.get(x, Fraction(0))) for x, p in enumerate(row)]
    )


def repeated(row: Row, seen: Sequence[int], factor: Fraction) -> Row:
    """Logits are ln p, at most 0: a seen token is multiplied."""
    return whole.renormalised(
        [powered(p, factor) if p and x in seen else p for x, p in enumerate(row)]
    )


def contains(
    law: Row,
    ids: Sequence[int],
    low: Sequence[Fraction],
    high: Sequence[Fraction],
    others: int | None,
    cap: Fraction | None,
    scale: tuple[Fraction, Fraction],
    same: Fraction = SAME,
) -> str:
    """What speaks against ``law``, known up to a relative ``same``, under the constraints of a
    partial law; empty if nothing does.

    All that is asked of one common t: ``t low(x) <= p(x) <= t high(x)``, ``p(x) <= t cap``.
    """
    least, most = scale
    listed = dict(zip(ids, zip(low, high, strict=True), strict=True))
    unlisted = 0
    for x, p in enumerate(law):
        if x in listed:
            if listed[x][1]:
                least = max(least, p / listed[x][1])
            elif p > same:
                return f"token {x} has {p}, and may have nothing"
            if listed[x][0]:
                most = min(most, p / listed[x][0])
        elif p:
            unlisted += 1
            if cap is not None:
                if not cap:
                    return f"token {x} is not listed and has {float(p)}"
                least = max(least, p / cap)
    if others is not None and unlisted > others:
        return f"{unlisted} tokens are not listed and possible, of at most {others}"
    if least > most * (1 + same) + same:
        return f"no scale: from {float(least)!r} to {float(most)!r}"
    return ""


def listed_shares(
    low: Sequence[Fraction], scale: tuple[Fraction, Fraction]
) -> list[tuple[Fraction, Fraction]]:
    return [(scale[0] * w, scale[1] * w) for w in low]


def arrangements(
    rest: Fraction, count: int, cap: Fraction, steps: int = 4
) -> Iterator[tuple[Fraction, ...]]:
    """Ways to give ``rest`` to ``count`` tokens of at most ``cap``: as equal and as unequal as
    possible, and a grid between."""
    if count == 0:
        if not rest:
            yield ()
        return
    yield (rest / count,) * count
    full = min(int(rest / cap), count) if cap else 0
    left = rest - full * cap
    tail = (cap,) * full + ((left,) if full < count else ())
    yield tail + (Fraction(0),) * (count - len(tail))
    for parts in itertools.product(range(steps + 1), repeat=count - 1):
        chosen = [min(cap, rest) * part / steps for part in parts]
        last = rest - sum(chosen, Fraction(0))
        if 0 <= last <= cap:
            yield (*chosen, last)


def completions(
    size: int,
    listed: dict[int, Fraction],
    cap: Fraction,
    order: Sequence[int] | None = None,
) -> Iterator[Row]:
    """Complete rows that agree with listed probabilities and a cap."""
    missing = [x for x in range(size) if x not in listed] if order is None else list(order)
    rest = 1 - sum(listed.values(), Fraction(0))
    for shares in arrangements(rest, len(missing), cap):
        row = [Fraction(0)] * size
        for x, p in listed.items():
            row[x] = p
        for x, p in zip(missing, shares, strict=True):
            row[x] = p
        yield row


def extreme_sums(
    boxes: Sequence[tuple[Fraction, Fraction]], total: Fraction, exponent: Fraction
) -> tuple[Fraction, Fraction]:
    """The least and the most of ``sum w^exponent`` over boxes with ``sum w = total``.

    By enumeration: every token is at its lower end, at its upper end, or at one common level (the
    conditions of Karush, Kuhn and Tucker allow no other place).
    """
    values = []
    for places in itertools.product("luc", repeat=len(boxes)):
        free = [box for box, place in zip(boxes, places, strict=True) if place == "c"]
        fixed = [
            low if place == "l" else high
            for (low, high), place in zip(boxes, places, strict=True)
            if place != "c"
        ]
        left = total - sum(fixed, Fraction(0))
        if not free:
            if left:
                continue
            level = Fraction(0)
        else:
            level = left / len(free)
            if any(not low <= level <= high for low, high in free):
                continue
        weights = fixed + [level] * len(free)
        values.append(sum((powered(w, exponent) for w in weights if w), Fraction(0)))
    return min(values), max(values)
