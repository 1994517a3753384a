"""The optimum for any law of drafted tuples, by all subsets of the tokens that can be drafted.

See `drafts_optimum` for the formula. Tokens that are never drafted raise p(H) only, so the subsets
of the others suffice. ``D(all drafted in H)`` is a sum over the subsets of H, worked out for all
H at once (one pass a token), in integers over one denominator.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from math import lcm
from typing import NamedTuple

LARGEST_SUPPORT = 16
"""Tokens that can be drafted; beyond that there are too many subsets."""


class SubsetOptimum(NamedTuple):
    """The optimum, and the smallest set of tokens (rising ids) that limits it, first in token
    order; empty where everything can be accepted."""

    acceptance: Fraction
    limit: tuple[int, ...]


def optimum_by_subsets(
    target: Sequence[Fraction], draws: Iterable[tuple[Iterable[int], Fraction]]
) -> SubsetOptimum | None:
    """``1 - max over H of [D(all drafted in H) - p(H)]``.

    ``target`` is p by token id, ``draws`` are the drafted tuples with their probabilities, which
    sum to one; order and repetition inside a tuple do not matter. None where more than
    `LARGEST_SUPPORT` tokens can be drafted.
    """
    by_set: dict[frozenset[int], Fraction] = {}
    for drafted, probability in draws:
        tokens = frozenset(drafted)
        by_set[tokens] = by_set.get(tokens, Fraction(0)) + probability
    support = sorted(frozenset[int]().union(*by_set))
    if len(support) > LARGEST_SUPPORT:
        return None
    place = {token: 1 << index for index, token in enumerate(support)}
    kept = [target[token] for token in support]
    unit = lcm(*(value.denominator for value in (*kept, *by_set.values())))
    inside = [0] * (1 << len(support))
    for tokens, probability in by_set.items():
        inside[sum(place[token] for token in tokens)] += _multiple(probability, unit)
    excess = _excess(inside, [_multiple(value, unit) for value in kept])
    most = max(excess)
    ties = (subset for subset, value in enumerate(excess) if value == most)
    members = [tuple(token for token in support if subset & place[token]) for subset in ties]
    limit = min(members, key=lambda tokens: (len(tokens), tokens))
    return SubsetOptimum(1 - Fraction(most, unit), limit)


def _multiple(value: Fraction, unit: int) -> int:
    return value.numerator * (unit // value.denominator)


def _excess(inside: list[int], kept: Sequence[int]) -> list[int]:
    """``D(all in H) - p(H)`` for every H, from the probability of each drafted set."""
    for index in range(len(kept)):
        bit = 1 << index
        for subset in range(len(inside)):
            if subset & bit:
                inside[subset] += inside[subset ^ bit]
    outside = [0] * len(inside)
    for index, mass in enumerate(kept):
        bit = 1 << index
        for subset in range(bit):
            outside[subset | bit] = outside[subset] + mass
    return [drafted - mass for drafted, mass in zip(inside, outside, strict=True)]
