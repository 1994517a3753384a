"""E-values: the published vectors, null means by enumeration, bounds that only round down."""

from __future__ import annotations

import random
from fractions import Fraction
from itertools import product
from math import factorial, gamma, log10, prod

import pytest

from specdist.exact.e_values import (
    Capital,
    Mixture,
    decimal_logarithm,
    dirichlet_e_value,
    multinomial_p_value,
    pearson_statistic,
)

F = Fraction
LAW = (F(1, 2), F(1, 4), F(1, 4))
LAWS = (LAW, (F(1, 3), F(1, 3), F(1, 3)), (F(7, 10), F(0), F(3, 10)), (F(1, 5),) * 5)


@pytest.mark.parametrize(
    ("counts", "e_value", "p_value", "statistic"),
    [
        ((3, 1, 2), F(32, 105), F(1), F(1, 3)),
        ((6, 0, 0), F(16, 7), F(49, 512), F(6)),
        ((2, 4, 0), F(256, 105), F(41, 512), None),
        ((2, 0, 4), F(256, 105), F(41, 512), None),
    ],
)
def test_the_published_vectors(
    counts: tuple[int, ...], e_value: Fraction, p_value: Fraction, statistic: Fraction | None
) -> None:
    assert dirichlet_e_value(LAW, counts) == e_value
    assert multinomial_p_value(LAW, counts) == p_value
    if statistic is not None:
        assert pearson_statistic(LAW, counts) == statistic


def test_the_p_value_is_that_of_all_sequences() -> None:
    """Second route: every sequence of draws, grouped by its counts."""
    for law, draws in ((LAW, 5), (LAWS[2], 4), (LAWS[1], 4)):
        chances: dict[tuple[int, ...], Fraction] = {}
        for sequence in product(range(len(law)), repeat=draws):
            counts = tuple(sequence.count(token) for token in range(len(law)))
            chance = prod((law[token] for token in sequence), start=F(1))
            chances[counts] = chances.get(counts, F(0)) + chance
        for counts, chance in chances.items():
            expected = sum(other for other in chances.values() if other <= chance)
            assert multinomial_p_value(law, counts) == expected


def test_the_mean_of_the_dirichlet_mixture_is_one() -> None:
    """Over all sequences; with the weights on the support of the law."""
    for law in LAWS:
        weights = [F(2, 3) if value else F(0) for value in law]
        for draws in range(1, 5):
            mean = F(0)
            for sequence in product([t for t, p in enumerate(law) if p], repeat=draws):
                counts = [sequence.count(token) for token in range(len(law))]
                chance = prod((law[token] for token in sequence), start=F(1))
                mean += chance * dirichlet_e_value(law, counts, weights)
            assert mean == 1


def test_the_dirichlet_mixture_by_gamma_functions() -> None:
    for counts in ((3, 1, 2), (0, 5, 4), (9, 0, 1)):
        total = sum(counts)
        likelihood = prod(factorial(n) for n in counts) * gamma(3) / gamma(total + 3)
        null = prod(float(p) ** n for p, n in zip(LAW, counts, strict=True))
        assert float(dirichlet_e_value(LAW, counts)) == pytest.approx(likelihood / null, rel=1e-12)


def test_a_draw_of_probability_zero_is_no_e_value() -> None:
    with pytest.raises(ValueError, match="proof"):
        dirichlet_e_value((F(1), F(0)), (3, 1))
    with pytest.raises(ValueError, match="too many"):
        multinomial_p_value((F(1, 40),) * 40, (1,) * 40)


def test_the_mean_of_a_mixture_of_bets_is_one() -> None:
    """Every sequence of four draws; the bettors look at the draws before, as bettors may."""
    weights = {"copycat": F(1, 3), "flat": F(1, 6), "last is rare": F(1, 2)}
    mean = F(0)
    for sequence in product(range(3), repeat=4):
        mixture, chance = Mixture(weights), F(1)
        for number, token in enumerate(sequence):
            before = sequence[:number]
            copied = F(before.count(token) + 1, number + 3)
            rare = (F(4, 9), F(4, 9), F(1, 9))[(token + number) % 3]
            bets = {"copycat": copied, "flat": F(1, 3), "last is rare": rare}
            mixture.bet(LAW[token], bets)
            chance *= LAW[token]
        assert mixture.draws == 4
        mean += chance * mixture.value
    assert mean == 1


def test_a_bettor_who_is_not_named_keeps_his_capital() -> None:
    mixture = Mixture({"one": F(1, 2), "other": F(1, 2)})
    mixture.bet(F(1, 4), {"one": F(1, 2)})
    assert mixture.value == F(1, 2) * (F(2) + (7 * F(2) + 1) / 8) / 2 + F(1, 2)
    assert mixture.favourite == "one"


def test_one_impossible_draw_leaves_the_careful_half() -> None:
    mixture = Mixture({"one": F(1)})
    mixture.bet(F(1, 4), {"one": F(0)})
    assert mixture.value == F(1, 16)
    mixture.bet(F(1, 4), {"one": F(1)})
    assert mixture.value == F(1, 16) * (7 * 4 + 1) / 8


def test_a_capital_is_exact_while_short_and_then_a_lower_bound() -> None:
    rng = random.Random(1)
    capital, exact = Capital(), F(1)
    for number in range(400):
        factor = F(rng.randint(1, 10**6), rng.randint(1, 10**6))
        capital.multiply(factor)
        exact *= factor
        assert capital.value <= exact
        if number < 8:
            assert capital.value == exact
    assert capital.value >= exact * (1 - F(1, 2**110))
    capital.multiply(F(0))
    assert capital.value == 0


def test_the_logarithm_is_a_lower_bound() -> None:
    for value in (F(1), F(2), F(1, 3), F(10) ** 400, F(7, 10**500), F(2**2000, 3)):
        found = decimal_logarithm(value)
        digits = len(str(value.numerator)) - len(str(value.denominator))
        assert abs(found - digits) <= 1.001
        if 1e-300 < float(min(value, F(10) ** 300)) < 1e300 and value < F(10) ** 300:
            assert log10(float(value)) - 1e-6 <= found <= log10(float(value))
    assert decimal_logarithm(F(0)) == float("-inf")
