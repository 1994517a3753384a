"""The acceptance test on a grid, against counting its points one by one."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import pytest

from specdist.exact.accept_test import AcceptTest, UniformGrid

RATIOS = [(Fraction(a, 12), Fraction(b, 12)) for a, b in product(range(13), range(13))]
ENDS = list(product((True, False), repeat=2))


def counted(
    points: list[Fraction], ratio: Fraction | None, inclusive: bool, capped: bool
) -> Fraction:
    """The share of points u with u < a, or u <= a; a ratio of None is infinite."""
    if ratio is None and not capped:
        return Fraction(1)
    edge = Fraction(1) if ratio is None else min(ratio, Fraction(1)) if capped else ratio
    passing = [u for u in points if u < edge or (inclusive and u == edge)]
    return Fraction(len(passing), len(points))


@pytest.mark.parametrize(("zero", "one"), ENDS)
@pytest.mark.parametrize("size", [2, 3, 8, 12])
def test_chances_are_counts_of_points(size: int, zero: bool, one: bool) -> None:
    every = [Fraction(k, size) for k in range(size + 1)]
    points = every[0 if zero else 1 : size + 1 if one else size]
    for inclusive, capped in product((True, False), repeat=2):
        test = AcceptTest(UniformGrid(size, zero, one), inclusive, capped, zero_draft="accept")
        for target, tested in RATIOS:
            if tested:
                expected = counted(points, target / tested, inclusive, capped)
            else:
                expected = counted(points, None, inclusive, capped) if target else Fraction(0)
            assert test.chance(target, tested) == expected


@pytest.mark.parametrize(
    ("zero_draft", "infinite", "nothing"),
    [("accept", 1, 0), ("accept-all", 1, 1), ("reject", 0, 0)],
)
def test_readings_of_a_zero_draft(zero_draft: str, infinite: int, nothing: int) -> None:
    test = AcceptTest(zero_draft=zero_draft)
    assert test.chance(Fraction(1, 3), Fraction(0)) == infinite
    assert test.chance(Fraction(0), Fraction(0)) == nothing
