"""Crossings by brute force: the acceptance rate from its definition, at every place where a cut
could change and between any two of them. Imports nothing from specdist."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations, pairwise

from tests import oracle_processing as definitions

Row = list[Fraction]
CUTS: dict[str, Callable[[Row, Fraction], Row]] = {
    "top-p": definitions.top_p,
    "min-p": definitions.min_p,
    "epsilon": definitions.epsilon,
}


@dataclass(frozen=True)
class Change:
    """``falls`` at ``value``, which itself ``reaches`` the floor or not."""

    value: Fraction
    falls: bool
    reaches: bool


def acceptance(target: Row, draft: Row) -> Fraction:
    return sum(map(min, target, draft), Fraction(0))


def rate(axis: str, target: Row, draft: Row, value: Fraction) -> Fraction:
    """The acceptance rate with ``axis`` at ``value``; ``draft-...`` is of the draft only."""
    cut = CUTS[axis.removeprefix("draft-")]
    after = target if axis.startswith("draft-") else cut(target, value)
    return acceptance(after, cut(draft, value))


def candidates(axis: str, rows: Sequence[Row]) -> set[Fraction]:
    """More than every value at which the cut of a row could change."""
    found: set[Fraction] = set()
    for row in rows:
        possible = [value for value in row if value]
        if axis.endswith("top-p"):
            for count in range(len(possible) + 1):
                found |= {sum(some, Fraction(0)) for some in combinations(possible, count)}
        else:
            found |= {x / y for x in possible for y in (*possible, Fraction(1))}
    return found


def changes(
    axis: str, target: Row, draft: Row, low: Fraction, high: Fraction, floor: Fraction
) -> list[Change]:
    """Every change of side from ``low`` to ``high``, in order."""
    inside = candidates(axis, (target, draft)) | {low, high}
    places = sorted(value for value in inside if low <= value <= high)
    tried = [places[0]]
    for before, after in pairwise(places):
        tried += [(before + after) / 2, after]
    sides = [rate(axis, target, draft, value) >= floor for value in tried]
    found = []
    for index in range(1, len(tried)):
        if sides[index] != sides[index - 1]:
            at = index if index % 2 == 0 else index - 1
            found.append(Change(tried[at], sides[index - 1], sides[at]))
    return found
