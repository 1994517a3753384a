"""Exponential sums: zero and sign decisions, enclosures, digits, cuts, printed forms."""

from __future__ import annotations

from fractions import Fraction

import mpmath
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from specdist.errors import SettingsError
from specdist.exact.symbolic import (
    ExponentialRatio,
    ExponentialSum,
    SymbolicBudgetError,
    certified_fraction_interval,
    closed_form,
    compare_mass,
    compare_relative,
    decimal_text,
    nearest_float,
    shortest_prefix,
    symbolic_law,
)
from specdist.exact.symbolic_digits import _power_of_ten
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


@pytest.mark.parametrize(
    ("over", "under", "text"),
    [
        ({0: 6}, {0: 8}, "3/4"),
        ({1: 2, 2: 2}, {0: 3, 1: 3}, "2e/3"),
        ({Fraction(1, 2): 1}, {0: 1, Fraction(1, 2): 1}, "e^(1/2)/(1 + e^(1/2))"),
        ({0: 1}, {0: 0, 3: 2}, "1/(2e^3)"),
        ({0: Fraction(1, 2), 1: -1}, {0: 1, 5: Fraction(1, 3)}, "(3 - 6e)/(6 + 2e^5)"),
        ({0: -1, 1: 1}, {0: 1, 1: 1}, "(e - 1)/(1 + e)"),
        ({-5: 2}, {-5: 1, -4: 1}, "2/(1 + e)"),
        ({0: 1, 10**9: 1}, {0: 1, 2 * 10**9: -1}, "-1/(e^1000000000 - 1)"),
        ({0: -1}, {1: 1}, "-1/e"),
        ({0: 1, 1: 1}, {0: 7}, "(1 + e)/7"),
        ({0: 1, 2: 1}, {0: 3, 1: -1}, "(1 + e^2)/(3 - e)"),
    ],
)
def test_printed_forms(
    over: dict[Fraction, Fraction], under: dict[Fraction, Fraction], text: str
) -> None:
    sides = [
        ExponentialSum({Fraction(r): Fraction(c) for r, c in side.items()})
        for side in (over, under)
    ]
    assert closed_form(ExponentialRatio.divide(*sides)) == text


def test_forms_too_long_to_print_are_left_out() -> None:
    law = symbolic_law([Fraction(x * x) for x in range(30)], Fraction(1))
    assert closed_form(law[0]) is not None
    assert closed_form(law[0], max_terms=20) is None
    assert closed_form(ExponentialRatio.of(Fraction(10**700))) is None


def test_digits_are_correct_and_rounded() -> None:
    e = ExponentialRatio.of(exp(Fraction(1)))
    assert decimal_text(e, 6) == "2.71828"
    assert decimal_text(-e, 8) == "-2.7182818"
    assert decimal_text(ExponentialRatio.of(exp(Fraction(-14))), 3) == "8.32e-7"
    assert decimal_text(ExponentialRatio.of(Fraction(2, 3)), 4) == "0.6667"
    assert decimal_text(ExponentialRatio.of(Fraction(1, 2)), 3) == "0.500"
    assert decimal_text(ExponentialRatio.of(Fraction(9999, 1000)), 2) == "10"
    assert decimal_text(ExponentialRatio.of(0), 5) == "0"
    with mpmath.workdps(1010):
        assert decimal_text(e, 1000)[:995] == mpmath.nstr(mpmath.e, 1000)[:995]
    with pytest.raises(SettingsError):
        decimal_text(e, 0)


@given(sums, st.integers(1, 60))
@settings(deadline=None)
def test_intervals_floats_and_decimals_agree(item: ExponentialSum, digits: int) -> None:
    ratio = ExponentialRatio.divide(item, ExponentialSum.constant(3) + exp(Fraction(1, 2)))
    low, high = certified_fraction_interval(ratio, digits)
    assert high - low <= Fraction(1, 10**digits)
    with mpmath.workdps(120):
        want = value(item) / (3 + mpmath.exp(0.5))
        assert real(low) - mpmath.mpf(10) ** -90 <= want <= real(high) + mpmath.mpf(10) ** -90
        assert nearest_float(ratio) == float(want)
        text = mpmath.mpf(decimal_text(ratio, digits))
        assert abs(text - want) <= abs(want) * mpmath.mpf(10) ** (1 - digits) * mpmath.mpf("0.5001")


def test_a_float_next_to_a_rounding_boundary() -> None:
    edge = ExponentialSum.constant(1 + Fraction(1, 2**53))
    assert nearest_float(ExponentialRatio.of(edge)) == 1.0
    assert nearest_float(ExponentialRatio.of(edge + exp(Fraction(-100)))) == 1 + 2.0**-52
    assert nearest_float(ExponentialRatio.of(edge - exp(Fraction(-100)))) == 1.0


def test_ratios_over_different_denominators_compare_exactly() -> None:
    whole = ExponentialSum.constant(1) + exp(Fraction(1))
    other = ExponentialSum.constant(2) + exp(Fraction(2))
    left = ExponentialRatio.divide(exp(Fraction(3)), whole)
    same = ExponentialRatio.divide(exp(Fraction(3)) * other, whole * other)
    tiny = Fraction(1, 10**40)
    above = ExponentialRatio.divide(
        exp(Fraction(3)) * other + exp(Fraction(0), tiny), whole * other
    )
    assert left.factors != same.factors
    assert left.compare(same) == 0
    assert left.compare(above) == -1
    assert above.compare(left) == 1
    assert left.equals(same)
    assert not left.equals(above)


def test_a_power_of_ten_next_to_a_multiple_of_the_logarithm() -> None:
    bits, size = 64, (17).bit_length()
    work = bits + size + 8
    exponent = Fraction(-7 * ln_10(work)[0], 1 << work)
    low, high, power = _power_of_ten(exponent, bits)
    with mpmath.workdps(60):
        want = mpmath.exp(real(exponent)) / mpmath.mpf(10) ** power
        assert real(low) <= want <= real(high)
    assert high <= 1


def test_cumulative_mass_is_compared_exactly() -> None:
    tied = [Fraction(1), Fraction(1), Fraction(1), Fraction(1)]
    assert compare_mass(tied, Fraction(7, 3), [0, 1, 2], Fraction(3, 4)) == 0
    assert compare_mass(tied, Fraction(7, 3), [0, 1, 2], Fraction(3, 4) + Fraction(1, 10**40)) == -1
    assert compare_mass(tied, Fraction(7, 3), [0, 1, 2], Fraction(3, 4), kept={0, 1, 2}) == 1
    assert compare_mass([Fraction(2), Fraction(1), Fraction(0)], Fraction(0), [0], Fraction(1)) == 0
    assert shortest_prefix(tied, Fraction(1), Fraction(3, 4)) == [0, 1, 2]
    assert shortest_prefix(tied, Fraction(1), Fraction(3, 4), exceed=True) == [0, 1, 2, 3]
    assert shortest_prefix(
        [Fraction(0), None, Fraction(5), Fraction(5)], Fraction(1), Fraction(1)
    ) == [2, 3, 0]
    assert shortest_prefix(
        [Fraction(0), Fraction(1), Fraction(1)], Fraction(0), Fraction(1, 2)
    ) == [1]
    assert compare_relative(Fraction(0), Fraction(1)) == 0
    assert compare_relative(Fraction(-1), Fraction(1, 3)) == 1
    assert compare_relative(Fraction(-1), Fraction(1, 2)) == -1


@given(
    st.lists(rationals, min_size=3, max_size=6),
    st.sampled_from([Fraction(1, 10), Fraction(1, 2), Fraction(9, 10)]),
)
@settings(deadline=None)
def test_the_shortest_prefix_is_the_shortest(logits: list[Fraction], mass: Fraction) -> None:
    with mpmath.workdps(60):
        weights = [mpmath.exp(real(z)) for z in logits]
        found = shortest_prefix(logits, Fraction(1), mass)
        held = [sum(weights[x] for x in found[:n]) / sum(weights) for n in range(len(found) + 1)]
        slack = mpmath.mpf(10) ** -50
        assert held[-1] >= real(mass) - slack
        assert held[-2] < real(mass) + slack
    assert found == sorted(found, key=lambda x: (-logits[x], x))
