"""Printed forms, correct digits and exact cuts of exponential sums."""

from __future__ import annotations

from fractions import Fraction

import mpmath
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from specdist.errors import SettingsError
from specdist.exact.symbolic import (
    ExponentialRatio,
    ExponentialSum,
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
from specdist.exact.symbolic_enclosure import ln_10

exp = ExponentialSum.exp
rationals = st.builds(Fraction, st.integers(-30, 30), st.sampled_from([1, 2, 3, 7, 10**6]))
sums = st.dictionaries(rationals, rationals, max_size=5).map(ExponentialSum)


def real(value: Fraction) -> mpmath.mpf:
    return mpmath.mpf(value.numerator) / value.denominator


def value(item: ExponentialSum) -> mpmath.mpf:
    return mpmath.fsum(real(c) * mpmath.exp(real(r)) for r, c in item.terms)


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
