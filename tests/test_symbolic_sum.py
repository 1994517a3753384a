"""Exponential sums: zero and sign decisions, enclosures, digits, cuts, printed forms."""

from __future__ import annotations

from fractions import Fraction

import mpmath
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from specdist.exact.symbolic import (
    ExponentialRatio,
    ExponentialSum,
    SymbolicBudgetError,
    closed_form,
)
from specdist.exact.symbolic_enclosure import exp_interval, exp_minus, ln_10

exp = ExponentialSum.exp
rationals = st.builds(Fraction, st.integers(-30, 30), st.sampled_from([1, 2, 3, 7, 10**6]))
sums = st.dictionaries(rationals, rationals, max_size=5).map(ExponentialSum)


def real(value: Fraction) -> mpmath.mpf:
    return mpmath.mpf(value.numerator) / value.denominator


def value(item: ExponentialSum) -> mpmath.mpf:
    return mpmath.fsum(real(c) * mpmath.exp(real(r)) for r, c in item.terms)


@given(sums, sums, sums)
def test_ring_laws_hold_exactly(a: ExponentialSum, b: ExponentialSum, c: ExponentialSum) -> None:
    assert (a + b) * c == a * c + b * c
    assert (a * b) * c == a * (b * c)
    assert a * b == b * a
    assert hash(a * b) == hash(b * a)
    assert ((a + b) * (a - b) - (a * a - b * b)).is_zero()
    assert ((a + b) * (a - b) - (a * a - b * b)).sign() == 0
    assert ExponentialSum(dict(a.terms)) == a


@given(sums, sums)
def test_a_product_divides_back(a: ExponentialSum, b: ExponentialSum) -> None:
    assume(not a.is_zero() and not b.is_zero())
    assert (a * b).quotient(b) == a
    if len(b) > 1:  # a sum of two or more terms never divides a single one
        assert (a * b + exp(Fraction(1, 999983))).quotient(b) is None


@given(sums, sums)
@settings(deadline=None)
def test_values_and_signs_agree_with_mpmath(a: ExponentialSum, b: ExponentialSum) -> None:
    with mpmath.workdps(60):
        scale = mpmath.exp(35)
        assert abs(value(a) * value(b) - value(a * b)) < scale**2 / mpmath.mpf(10) ** 50
        difference = value(a) - value(b)
        if abs(difference) > mpmath.mpf(10) ** -30:
            assert (a - b).sign() == mpmath.sign(difference)
        for bits in (20, 100):
            low, high = a.enclosure(bits)
            assert (
                real(low) - mpmath.mpf(10) ** -40 <= value(a) <= real(high) + mpmath.mpf(10) ** -40
            )


@given(
    st.builds(Fraction, st.integers(0, 10**8), st.sampled_from([1, 3, 10**5, 10**9, 10**30])),
    st.integers(1, 400),
)
@settings(deadline=None)
def test_exponential_enclosures_hold_and_are_narrow(distance: Fraction, bits: int) -> None:
    low, high = exp_minus(distance, bits)
    assert 0 <= high - low <= 3
    with mpmath.workprec(bits + 100):
        want = mpmath.ldexp(mpmath.exp(-real(distance)), bits)
        assert low <= want <= high
    if distance < 200:
        below, above = exp_interval(distance, bits)
        with mpmath.workprec(bits + 700):
            assert real(below) <= mpmath.exp(real(distance)) <= real(above)
        assert above - below <= below * Fraction(4, 2**bits) or not distance


@pytest.mark.parametrize("bits", [1, 2, 8, 64, 333, 5000])
def test_the_logarithm_of_ten_is_enclosed(bits: int) -> None:
    low, high = ln_10(bits)
    assert high - low <= 2
    with mpmath.workprec(bits + 50):
        assert low <= mpmath.ldexp(mpmath.log(10), bits) <= high


@pytest.mark.parametrize("power", [40, 200, 1000])
def test_signs_of_very_close_values(power: int) -> None:
    tiny = Fraction(1, 10**power)
    assert (exp(tiny) - exp(Fraction(0))).sign() == 1
    assert (exp(Fraction(1)) + exp(-tiny) - exp(Fraction(1)) - exp(Fraction(0))).sign() == -1
    with mpmath.workdps(power + 30):
        e = mpmath.nstr(mpmath.e, power + 20)
    near = Fraction(
        e[: power + 2]
    )  # e cut after that many decimals: below e by less than 10^-power
    assert (exp(Fraction(1)) - ExponentialSum.constant(near)).sign() == 1
    assert (ExponentialSum.constant(near + tiny) - exp(Fraction(1))).sign() == 1


def test_cancellation_to_zero_and_to_almost_nothing() -> None:
    a, b = exp(Fraction(1, 3)) + exp(Fraction(-2)), exp(Fraction(1, 3)) - exp(Fraction(-2))
    assert (a * b - exp(Fraction(2, 3)) + exp(Fraction(-4))).is_zero()
    assert (a * b - exp(Fraction(2, 3))).sign() == -1
    wide = ExponentialSum.constant(1) + exp(Fraction(-(10**9)))
    assert (wide - ExponentialSum.constant(1)).sign() == 1
    second = (
        exp(Fraction(1, 10**20), 1) - exp(Fraction(0), 2) + exp(Fraction(-1, 10**20), 1)
    )  # about 10^-40
    assert second.sign() == 1


def test_a_sign_beyond_the_precision_limit_is_an_error_not_a_guess() -> None:
    with pytest.raises(SymbolicBudgetError):
        (exp(Fraction(1, 10**50_000)) - exp(Fraction(0))).sign()
    with pytest.raises(SymbolicBudgetError):
        exp(Fraction(10**9)).enclosure(64)


def test_ratios_cancel_and_know_when_they_are_rational() -> None:
    one, e = ExponentialSum.constant(1), exp(Fraction(1))
    whole = ExponentialRatio.divide(one, one + e)
    other = ExponentialRatio.divide(e, one + e)
    assert (whole + other).as_rational() == 1
    assert (whole / other).equals(ExponentialRatio.of(exp(Fraction(-1))))
    assert whole.as_rational() is None
    assert ExponentialRatio.divide(e * e - one, one - e).sign() == -1
    assert closed_form(ExponentialRatio.divide(e * e - one, one - e)) == "-1 - e"
    with pytest.raises(ZeroDivisionError):
        ExponentialRatio.divide(one, e - e)
