"""Exact sums and the sign filter against plain Fraction arithmetic, on hostile arrays."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from specdist.exact import float_sum
from specdist.exact.float_filter import exact_sign_sets
from specdist.exact.float_sum import exact_dots, exact_sum
from specdist.exact.float_terms import divide_rounded, multiply_exactly

tiny_and_huge = st.floats(
    min_value=-(2.0**900), max_value=2.0**900, allow_nan=False, allow_infinity=False
)
weights = st.floats(min_value=0.0, max_value=1.0) | st.sampled_from(
    [0.0, 1.0, 0.5, 2.0**-1074, 2.0**-1022, 1 - 2.0**-53, 2.0**-53, 1e-300]
)


def plain(values: list[float]) -> Fraction:
    return sum(map(Fraction, values), Fraction(0))


@given(st.lists(tiny_and_huge, max_size=40))
def test_a_sum_is_exact_whatever_the_range_and_the_signs(values: list[float]) -> None:
    assert exact_sum(np.array(values, dtype=np.float64)) == plain(values)


@given(st.lists(st.tuples(weights, st.integers(0, 2**20), st.booleans()), max_size=40))
def test_multiplicities_and_masks_are_exact(entries: list[tuple[float, int, bool]]) -> None:
    values = np.array([value for value, _, _ in entries], dtype=np.float64)
    counts = np.array([count for _, count, _ in entries], dtype=np.int64)
    mask = np.array([chosen for _, _, chosen in entries], dtype=np.bool_)
    total, masked = exact_dots(values, [None, mask])
    assert total == plain(values.tolist())
    assert masked == plain([value for value, _, chosen in entries if chosen])
    (weighted,) = exact_dots(values, [counts], int(counts.sum()) + 1)
    assert weighted == sum((Fraction(value) * count for value, count, _ in entries), Fraction(0))


@pytest.mark.parametrize("spread", [1.0, 30.0, 200.0, 700.0])
@pytest.mark.parametrize("length", [1, 16_383, 16_384, 16_385, 40_000])
def test_block_borders_and_long_tails(spread: float, length: int) -> None:
    random = np.random.default_rng(length)
    values = np.exp(-np.abs(random.normal(0, spread, length)))
    mask = random.random(length) < 0.3
    assert exact_dots(values, [None, mask]) == [
        plain(values.tolist()),
        plain(values[mask].tolist()),
    ]


def test_chunk_size_changes_no_digit(monkeypatch: pytest.MonkeyPatch) -> None:
    values = np.exp(-np.abs(np.random.default_rng(3).normal(0, 40, 5_000)))
    expected = exact_sum(values)
    for block in (1, 7, 4_999, 5_000):
        monkeypatch.setattr(float_sum, "BLOCK", block)
        assert exact_sum(values) == expected


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf, 2.0**961])
def test_values_outside_the_domain_are_refused(bad: float) -> None:
    with pytest.raises(ValueError, match="finite"):
        exact_sum(np.array([1.0, bad]))


def test_a_lost_last_bit_would_be_seen() -> None:
    values = np.array([1.0, 2.0**-1074, -1.0])
    assert exact_sum(values) == Fraction(1, 2**1074)


def sign_lists(columns: list[list[float]], coefficients: list[Fraction]) -> tuple[list, list]:
    arrays = [np.array(column) for column in columns]
    terms = [
        (array.__getitem__, [], coefficient)
        for array, coefficient in zip(arrays, coefficients, strict=True)
    ]
    signs = exact_sign_sets(len(columns[0]), terms)
    return signs.positive.tolist(), signs.negative.tolist()


@given(st.data())
def test_signs_are_exact_next_to_ties(data: st.DataObject) -> None:
    length = data.draw(st.integers(1, 12))
    first = data.draw(st.lists(weights, min_size=length, max_size=length))
    scale = Fraction(data.draw(st.integers(1, 2**60)), data.draw(st.integers(1, 2**60)))
    # The second column is the first one scaled and rounded: every entry is a tie or nearly one.
    second = [float(Fraction(value) * scale) for value in first]
    second = [min(value, 2.0**800) for value in second]
    nudged = [
        float(np.nextafter(value, data.draw(st.sampled_from([0.0, np.inf])))) for value in second
    ]
    for column in (second, nudged):
        positive, negative = sign_lists([first, column], [scale, Fraction(-1)])
        exact = [scale * Fraction(a) - Fraction(b) for a, b in zip(first, column, strict=True)]
        assert positive == [value > 0 for value in exact]
        assert negative == [value < 0 for value in exact]


def test_masks_and_cancelling_terms_have_exact_signs() -> None:
    values = np.array([0.1, 0.2, 0.3, 2.0**-1074])
    mask = np.array([True, False, True, True])
    third = Fraction(1, 3)
    terms = [
        (values.__getitem__, [], third),
        (values.__getitem__, [mask], -third),
        (values.__getitem__, [mask], Fraction(1, 10**30)),
    ]
    signs = exact_sign_sets(4, terms)
    assert signs.positive.tolist() == [True, True, True, True]
    assert not signs.negative.any()


@given(st.lists(st.tuples(weights, weights), min_size=1, max_size=30))
def test_a_product_is_the_sum_of_its_parts(pairs: list[tuple[float, float]]) -> None:
    first, second = (np.array(column) for column in zip(*pairs, strict=True))
    high, low, lost = multiply_exactly(first, second)
    error = Fraction(0)
    for a, b, h, rest in zip(first, second, high, low, strict=True):
        exact = Fraction(float(a)) * Fraction(float(b))
        error += abs(Fraction(float(h)) + Fraction(float(rest)) - exact)
    assert error <= lost
    if min(min(pair) or 1.0 for pair in pairs) > 2.0**-400:
        assert error == 0


@given(st.lists(st.tuples(weights, weights, st.floats(2.0**-60, 1.0)), min_size=1, max_size=30))
def test_a_quotient_keeps_its_stated_error(entries: list[tuple[float, float, float]]) -> None:
    drafted, target, tested = (np.array(column) for column in zip(*entries, strict=True))
    where = target < tested
    quotient = divide_rounded(drafted, target, tested, where)
    for d, t, q, chosen, value in zip(drafted, target, tested, where, quotient, strict=True):
        exact = Fraction(float(d)) * Fraction(float(t)) / Fraction(float(q)) if chosen else 0
        slack = exact * Fraction(3, 2**53) + Fraction(1, 2**1070)
        assert abs(Fraction(float(value)) - exact) <= slack


@given(st.data())
def test_values_on_one_grid_need_no_last_rounding(data: st.DataObject) -> None:
    exponent = data.draw(st.integers(-1074, 800))
    mantissas = data.draw(st.lists(st.integers(1, 2**53 - 1), min_size=1, max_size=30))
    values = np.ldexp(np.array(mantissas, dtype=np.float64), exponent)
    counts = np.array(data.draw(st.lists(st.integers(0, 2**18), min_size=len(values), max_size=30)))
    counts = counts[: len(values)]
    total, weighted = exact_dots(values, [None, counts], max(int(counts.sum()), len(values)) + 1)
    assert total == plain(values.tolist())
    pairs = zip(values.tolist(), counts.tolist(), strict=True)
    assert weighted == sum((Fraction(value) * count for value, count in pairs), Fraction(0))
