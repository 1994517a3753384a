"""Laws of steps of speculative sampling by enumeration over Fractions: what audits must find.

Rows are the same at every position. Every function gives the law of what one step of ``gamma``
draft tokens emits, by what the rule does with them; nothing here knows the package.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from itertools import product
from math import log, prod

Row = tuple[Fraction, ...]
Law = dict[tuple[int, ...], Fraction]
ONE = Fraction(1)
TARGET: Row = (Fraction(1, 2), Fraction(1, 4), Fraction(1, 4))
DRAFT: Row = (Fraction(1, 4), Fraction(1, 2), Fraction(1, 4))


def mass(row: Row, tokens: tuple[int, ...]) -> Fraction:
    """Of independent tokens."""
    return prod((row[token] for token in tokens), start=ONE)


def normalised(weights: list[Fraction]) -> Row:
    return tuple(weight / sum(weights) for weight in weights)


def residual(p: Row, q: Row) -> Row:
    return normalised([max(a - b, Fraction(0)) for a, b in zip(p, q, strict=True)])


def add(law: Law, tokens: tuple[int, ...], share: Fraction) -> None:
    if share:
        law[tokens] = law.get(tokens, Fraction(0)) + share


def step(
    p: Row,
    q: Row,
    gamma: int,
    kept: Callable[[int], Fraction],
    recovered: Callable[[int], Row],
    bonus: Row,
) -> Law:
    """Draft tokens tested one by one: token x kept with probability kept(x), the first that fails
    replaced by a draw from recovered(x)."""
    law: Law = {}
    for drafted in product(range(len(q)), repeat=gamma):
        left = mass(q, drafted)
        for i, token in enumerate(drafted):
            if left and kept(token) < 1:
                for other, share in enumerate(recovered(token)):
                    add(law, (*drafted[:i], other), left * (1 - kept(token)) * share)
            left *= kept(token)
        for other, share in enumerate(bonus):
            add(law, (*drafted, other), left * share)
    return law


def token_rule(p: Row, q: Row, gamma: int) -> Law:
    """Leviathan et al. 2023, algorithm 1."""
    return step(p, q, gamma, lambda x: min(ONE, p[x] / q[x]), lambda x: residual(p, q), p)


def drafted_token_only(p: Row, q: Row, gamma: int, greedy_bonus: bool = False) -> Law:
    """The residual takes the draft's mass away at the drafted token alone."""

    def recovered(token: int) -> Row:
        less = [max(p[x] - (q[x] if x == token else 0), Fraction(0)) for x in range(len(p))]
        return normalised(less)

    best = tuple(Fraction(int(x == p.index(max(p)))) for x in range(len(p)))
    bonus = best if greedy_bonus else p
    return step(p, q, gamma, lambda x: min(ONE, p[x] / q[x]), recovered, bonus)


def typical_acceptance(p: Row, q: Row, gamma: int, share: float) -> Law:
    """Kept where -log p(x) is within -log(share) of the entropy, else drawn from the target."""
    entropy = -sum(float(a) * log(a) for a in p if a)

    def kept(token: int) -> Fraction:
        near = p[token] > 0 and abs(-log(p[token]) - entropy) <= -log(share)
        return Fraction(int(near))

    return step(p, q, gamma, kept, lambda x: p, p)


def first_always_stands(p: Row, q: Row) -> Law:
    """Two draft tokens. The first stands whatever it is; the second is kept untested where the
    *first* passes its test, and else replaced by a draw from the residual."""
    law: Law = {}
    for one, first in enumerate(q):
        kept = min(ONE, p[one] / first)
        for two in range(len(q)):
            for three in range(len(p)):
                add(law, (one, two, three), first * kept * q[two] * p[three])
            if kept < 1:
                add(law, (one, two), first * (1 - kept) * residual(p, q)[two])
    return law


def continued(law: Law, p: Row, length: int) -> Law:
    """Shorter outputs go on with the target."""
    longer: Law = {}
    for tokens, share in law.items():
        for rest in product(range(len(p)), repeat=length - len(tokens)):
            add(longer, tokens + rest, share * mass(p, rest))
    return longer


def variation(law: Law, p: Row) -> Fraction:
    """The total variation of the joint law from the target's."""
    length = max(map(len, law))
    longer = continued(law, p, length)
    target = {tokens: mass(p, tokens) for tokens in product(range(len(p)), repeat=length)}
    return sum((abs(longer.get(t, Fraction(0)) - m) for t, m in target.items()), Fraction(0)) / 2


def first_token(law: Law, vocab: int) -> Row:
    return tuple(
        sum((share for tokens, share in law.items() if tokens[0] == token), Fraction(0))
        for token in range(vocab)
    )
