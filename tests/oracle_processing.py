"""Processing by naive definition, with Fraction and long decimals. Imports nothing from specdist.

A row of probabilities is a list of Fraction (0: dropped); a row of logits is a list of
Fraction or None (None: dropped). Every filter asks one token at a time "does it stay?", in the
words of the definition, where the implementation walks a sorted row once.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from decimal import Decimal, localcontext
from fractions import Fraction

Probabilities = list[Fraction]
Logits = list[Fraction | None]
DIGITS = 90
SAME = Decimal("1e-70")


def renormalised(row: Sequence[Fraction]) -> Probabilities:
    total = sum(row, Fraction(0))
    return [value / total for value in row]


def kept(row: Probabilities, stays: Callable[[int], bool]) -> Probabilities:
    """The renormalised row of the possible tokens that stay; empty rows divide by zero."""
    return renormalised(
        [value if value and stays(x) else Fraction(0) for x, value in enumerate(row)]
    )


def power(row: Probabilities, exponent: int) -> Probabilities:
    return renormalised([value**exponent if value else Fraction(0) for value in row])


def argmax(row: Probabilities) -> Probabilities:
    best = row.index(max(row))
    return [Fraction(int(x == best)) for x in range(len(row))]


def comes_before(row: Probabilities, y: int, x: int, ties: str) -> bool:
    """Whether y is ranked strictly before x."""
    if row[y] != row[x] or ties == "all":
        return row[y] > row[x]
    return y < x if ties == "lowest-id" else y > x


def top_k(row: Probabilities, count: int, ties: str = "all") -> Probabilities:
    return kept(row, lambda x: sum(comes_before(row, y, x, ties) for y in range(len(row))) < count)


def top_p(
    row: Probabilities, mass: Fraction, boundary: str = "reach", ties: str = "lowest-id"
) -> Probabilities:
    def stays(x: int) -> bool:
        before = sum(
            (row[y] for y in range(len(row)) if comes_before(row, y, x, ties)), Fraction(0)
        )
        return before < mass if boundary == "reach" else before <= mass

    return kept(row, stays)


def min_p(row: Probabilities, fraction: Fraction, equal: str = "keep") -> Probabilities:
    limit = fraction * max(row)
    return kept(row, lambda x: row[x] > limit or (equal == "keep" and row[x] == limit))


def epsilon(row: Probabilities, cutoff: Fraction) -> Probabilities:
    return kept(row, lambda x: row[x] >= cutoff or row[x] == max(row))


def surprise(value: Fraction) -> Decimal:
    with localcontext() as context:
        context.prec = DIGITS
        return -(Decimal(value.numerator) / Decimal(value.denominator)).ln()


def entropy(row: Probabilities) -> Decimal:
    with localcontext() as context:
        context.prec = DIGITS
        return sum(
            (Decimal(p.numerator) / Decimal(p.denominator) * surprise(p) for p in row if p),
            Decimal(0),
        )


def typical(row: Probabilities, mass: Fraction, boundary: str = "reach") -> Probabilities:
    with localcontext() as context:
        context.prec = DIGITS
        h = entropy(row)
        shift = {x: abs(surprise(p) - h) for x, p in enumerate(row) if p}

        def stays(x: int) -> bool:
            before = sum((row[y] for y in shift if shift[y] < shift[x] - SAME), Fraction(0))
            return before < mass if boundary == "reach" else before <= mass

        return kept(row, stays)


def eta(row: Probabilities, cutoff: Fraction) -> Probabilities:
    with localcontext() as context:
        context.prec = DIGITS
        root = (Decimal(cutoff.numerator) / Decimal(cutoff.denominator)).sqrt()
        scaled = root * (-entropy(row)).exp()

        def stays(x: int) -> bool:
            value = Decimal(row[x].numerator) / Decimal(row[x].denominator)
            return value >= scaled - SAME or row[x] >= cutoff or row[x] == max(row)

        return kept(row, stays)


# Logits.


def masked(row: Logits, stays: Callable[[int], bool]) -> Logits:
    return [z if z is not None and stays(x) else None for x, z in enumerate(row)]


def bias(row: Logits, changes: dict[int, Fraction]) -> Logits:
    return [z if z is None else z + changes.get(x, 0) for x, z in enumerate(row)]


def repetition(row: Logits, seen: Sequence[int], factor: Fraction) -> Logits:
    return [
        z if z is None or x not in seen else (z / factor if z > 0 else z * factor)
        for x, z in enumerate(row)
    ]


def presence(row: Logits, seen: Sequence[int], amount: Fraction) -> Logits:
    return [z if z is None or x not in seen else z - amount for x, z in enumerate(row)]


def frequency(row: Logits, seen: Sequence[int], amount: Fraction) -> Logits:
    return [z if z is None else z - amount * list(seen).count(x) for x, z in enumerate(row)]


def tempered(row: Logits, temperature: Fraction) -> Logits:
    return [z if z is None else z / temperature for z in row]


def top_n_sigma(row: Logits, count: Fraction) -> Logits:
    finite = [z for z in row if z is not None]
    mean = sum(finite, Fraction(0)) / len(finite)
    variance = sum(((z - mean) ** 2 for z in finite), Fraction(0)) / len(finite)
    largest = max(finite)
    return masked(row, lambda x: (largest - row[x]) ** 2 <= count**2 * variance)  # type: ignore[operator]


def softmax(row: Logits) -> Probabilities:
    """Float64 weights ``exp(z - max z)`` of the exact argument rounded once, never 0."""
    largest = max(z for z in row if z is not None)
    return renormalised(
        [
            Fraction(0)
            if z is None
            else Fraction(max(math.exp(max(float(z - largest), -1e3)), 2.0**-1074))
            for z in row
        ]
    )


def real_weights(row: Logits) -> list[Decimal]:
    """``exp(z - max z)`` to 90 digits; 0 where masked."""
    largest = max(z for z in row if z is not None)
    with localcontext() as context:
        context.prec = DIGITS
        return [
            Decimal(0)
            if z is None
            else (Decimal((z - largest).numerator) / Decimal((z - largest).denominator)).exp()
            for z in row
        ]


# Rows made anew. Every draw is enumerated, every rounding found by search.


def effective(
    temperature: Fraction, greedy_below: Fraction, at_least: Fraction, plus: Fraction
) -> Fraction:
    if temperature < greedy_below:
        return Fraction(0)
    if 0 < temperature < at_least:
        return at_least + plus
    return temperature + plus


def all_argmax(row: Probabilities) -> Probabilities:
    return kept(row, lambda x: row[x] == max(row))


def top_p_partial(row: Probabilities, mass: Fraction, ties: str = "lowest-id") -> Probabilities:
    def share(x: int) -> Fraction:
        level = [y for y in range(len(row)) if row[y] == row[x]] if ties == "all" else [x]
        before = sum(
            (row[y] for y in range(len(row)) if comes_before(row, y, x, ties)), Fraction(0)
        )
        whole = sum((row[y] for y in level), Fraction(0))
        return min(max(mass - before, Fraction(0)), whole) / len(level) / mass

    return [share(x) for x in range(len(row))]


def mapped(row: Probabilities, targets: Sequence[int], size: int) -> Probabilities:
    return renormalised(
        [
            sum((p for p, target in zip(row, targets, strict=True) if target == y), Fraction(0))
            for y in range(size)
        ]
    )


def resized(row: Probabilities, size: int) -> Probabilities:
    return renormalised([row[x] if x < len(row) else Fraction(0) for x in range(size)])


#: Significant bits, exponent of the smallest subnormal, largest value.
FORMATS = {
    "float16": (11, -24, Fraction(65504)),
    "bfloat16": (8, -133, Fraction(255 * 2**120)),
    "float32": (24, -149, Fraction((2**24 - 1) * 2**104)),
}


def nearest(value: Fraction, name: str) -> Fraction | None:
    """The float nearest to ``value``, ties to the even last digit; None beyond the format."""
    bits, lowest, largest = FORMATS[name]
    size, unit = abs(value), Fraction(2) ** lowest
    while size / unit >= 2**bits:
        unit *= 2
    digits = 0
    step = 2**bits
    while step:  # the largest whole number of units that is not above the size
        if (digits + step) * unit <= size:
            digits += step
        else:
            step //= 2
    below, above = size - digits * unit, (digits + 1) * unit - size
    if above < below or (above == below and digits % 2):
        digits += 1
    rounded = digits * unit
    if rounded > largest:
        return None
    return rounded if value >= 0 else -rounded


def inverse_cdf(row: Probabilities, points: int) -> Probabilities:
    drawn = [0] * len(row)
    for k in range(points):
        cumulative = Fraction(0)
        for x, p in enumerate(row):
            cumulative += p
            if Fraction(k, points) < cumulative:
                drawn[x] += 1
                break
    return [Fraction(count, points) for count in drawn]


def gumbel_race(row: Probabilities, points: int) -> Probabilities:
    """``u_x^(1/p_x)`` of two tokens compared as ``u_x^(a_y)`` and ``u_y^(a_x)``, p = a / D."""
    common = math.lcm(*(p.denominator for p in row))
    power = [int(p * common) for p in row]
    possible = [x for x, p in enumerate(row) if p]
    wins = [0] * len(row)
    for draw in itertools.product(range(1, points + 1), repeat=len(possible)):
        u = dict(zip(possible, draw, strict=True))
        best = possible[0]
        for x in possible[1:]:
            if (
                u[x] ** power[best] * points ** power[x]
                > u[best] ** power[x] * points ** power[best]
            ):
                best = x
        wins[best] += 1
    return [Fraction(count, points ** len(possible)) for count in wins]


def string_law(
    row: Probabilities, draft_texts: Sequence[str], texts: Sequence[str], characters: int
) -> Probabilities:
    """One draft token after another, until the text is long enough."""
    law = [Fraction(0)] * len(texts)

    def draw(text: str, mass: Fraction) -> None:
        if len(text) >= characters:
            fitting = [t for t, own in enumerate(texts) if own and text.startswith(own)]
            law[max(fitting, key=lambda t: len(texts[t]))] += mass
            return
        for own, p in zip(draft_texts, row, strict=True):
            if p:
                draw(text + own, mass * p)

    draw("", Fraction(1))
    return law


def lazy(free: Probabilities, masked_first: Probabilities, allowed: Sequence[int]) -> Probabilities:
    refused = sum((p for x, p in enumerate(free) if x not in allowed), Fraction(0))
    return [
        (p if x in allowed else Fraction(0)) + refused * q
        for x, (p, q) in enumerate(zip(free, masked_first, strict=True))
    ]
