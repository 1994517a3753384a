"""The parts that rules are made of, on float64 arrays, against fractions and 50 digits."""

from __future__ import annotations

from fractions import Fraction

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from specdist.exact.entropy import above_entropy, entropy, entropy_at_most
from specdist.exact.envelope import largest_ratio
from specdist.exact.exponential import exponentials
from specdist.exact.float_atoms import Atom
from specdist.exact.float_prefix import prefix_error, prefix_sums, suffix_sums
from specdist.exact.float_space import Space
from specdist.exact.float_terms import multiply_exactly
from specdist.exact.float_vector import FloatVector
from specdist.exact.law import RationalLaw
from specdist.exact.rational_vector import RationalVector
from specdist.exact.sparse import from_entries, support
from specdist.exact.vectors import rational, vectors_of_laws
from specdist.model.role import DRAFT_ROLES, TARGET_ROLES, Role
from specdist.model.row import FloatValues, Kind, NumberFormat, Row, Stage
from specdist.processing import RowContext, apply_recipe, parse_recipe
from specdist.rules.outcomes import RoleLaws
from specdist.rules.registry import read_rule
from tests import oracle_rules
from tests.rule_laws import distance, entries, float_laws
from tests.strategies import full_rows, rows
from tests.test_rules_against_oracle import RATIOS, ROWS, SETS

F = Fraction
positive = st.floats(2.0**-60, 1) | st.sampled_from([0.0, 1.0, 0.5, 1e-300])


def vector_of(values: list[float]) -> FloatVector:
    return FloatVector(Space(len(values)), {(Atom.of(np.array(values)), frozenset()): F(1)})


@settings(max_examples=200, deadline=None)
@given(
    values=st.lists(positive, min_size=3, max_size=9),
    scale=st.fractions(F(1, 10**6), 3),
    place=st.integers(0, 8),
    nudge=st.sampled_from([F(0), F(1, 10**30), F(-1, 10**30), F(1, 7)]),
)
def test_entries_against_a_number(values: list[float], scale: F, place: int, nudge: F) -> None:
    vector = vector_of(values).scaled(scale)
    edge = abs(scale * F(values[place % len(values)]) + nudge) or F(1)
    for difference in (vector - vector.constant(edge), vector.constant(edge) - vector):
        signs = difference.signs()
        exact = entries(difference)
        assert signs.positive.tolist() == [value > 0 for value in exact]
        assert signs.negative.tolist() == [value < 0 for value in exact]


@settings(max_examples=100, deadline=None)
@given(st.lists(st.tuples(positive, positive), min_size=1, max_size=40))
def test_products_in_two_parts(pairs: list[tuple[float, float]]) -> None:
    first, second = (np.array(side) for side in zip(*pairs, strict=True))
    high, low, lost = multiply_exactly(first, second)
    gap = F(0)
    for one, other, part, rest in zip(first, second, high, low, strict=True):
        gap += abs(F(float(one)) * F(float(other)) - F(float(part)) - F(float(rest)))
    assert gap <= lost


def test_products_longer_than_a_block() -> None:
    random = np.random.default_rng(3)
    first, second = random.random(40_000), random.random(40_000)
    high, low, lost = multiply_exactly(first, second)
    assert lost == 0
    for i in (0, 16_383, 16_384, 39_999):
        assert F(first[i]) * F(second[i]) == F(high[i]) + F(low[i])


@pytest.mark.parametrize("size", [1, 2, 7, 1000, 4099])
def test_prefix_sums_keep_their_bound(size: int) -> None:
    values = np.exp(-40 * np.random.default_rng(size).random(size))
    exact, error = F(0), prefix_error(size)
    forward, backward = prefix_sums(values), suffix_sums(values[::-1])[::-1]
    for value, one, other in zip(values, forward, backward, strict=True):
        exact += F(value)
        assert abs(F(one) - exact) <= error * exact
        assert abs(F(other) - exact) <= error * exact


def precise_entropy(row: list[F]) -> mpmath.mpf:
    numbers = [mpmath.mpf(v.numerator) / v.denominator for v in row if v]
    return -mpmath.fsum(v * mpmath.log(v) for v in numbers)


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_entropy_is_enclosed(data: st.DataObject) -> None:
    row = data.draw(rows())
    law = data.draw(float_laws(5))
    (fast,) = vectors_of_laws({"law": law}).values()
    slow = list(rational(law).values)
    with mpmath.workdps(60):
        for vector, exact in ((RationalVector(tuple(row)), row), (fast, slow)):
            found, true = entropy(vector), precise_entropy(exact)
            assert mpmath.mpf(found.low.numerator) / found.low.denominator <= true + 1e-50
            assert mpmath.mpf(found.high.numerator) / found.high.denominator >= true - 1e-50
            assert found.high - found.low < F(1, 10**12)


def test_a_threshold_that_is_met_exactly() -> None:
    """exp(-H) of an even row is 1/n: a token of that probability is not above it, by proof."""
    even = RationalVector((F(1, 4),) * 4)
    assert entries(above_entropy(even, F(1), F(1))) == [-1] * 4
    assert entries(above_entropy(even, F(99, 100), F(1))) == [1] * 4
    pair = RationalVector((F(1, 2), F(1, 4), F(1, 4)))  # exp(-2 H) = 1/8
    assert above_entropy(pair, F(1), F(1)).error == 0
    assert entropy_at_most(even, F(1386, 1000)) is False
    assert entropy_at_most(even, F(1387, 1000)) is True
    assert entropy_at_most(RationalVector((F(0), F(1), F(0))), F(0)) is True


def test_a_threshold_closer_than_any_digits_stays_open() -> None:
    long = 10**400 + 1
    row = RationalVector((F(1, 2) + F(1, long), F(1, 2) - F(1, long)))
    found = above_entropy(row, F(1), F(1))
    assert found.error > 0
    assert row.where(found).error > 0


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_largest_ratios(data: st.DataObject) -> None:
    laws = {name: data.draw(float_laws(6)) for name in "abc"}
    target, tested, drafted = vectors_of_laws(laws).values()
    slow = [RationalVector.of(rational(law)) for law in laws.values()]
    assert largest_ratio(target, tested, drafted) == largest_ratio(*slow)


def test_ratios_that_all_tie_are_rounded_up() -> None:
    weights = np.random.default_rng(0).random(600)
    space = Space(600)
    first, second = (
        FloatVector(space, {(Atom.of(weights * scale), frozenset()): F(1)}) for scale in (1.0, 0.5)
    )
    found = largest_ratio(first, second, second)
    assert 2 <= found.value <= 2 * (1 + found.error)
    assert 0 < found.error < F(1, 2**45)


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_exponentials(data: st.DataObject) -> None:
    law = data.draw(float_laws(5))
    (fast,) = vectors_of_laws({"law": law}).values()
    slow = RationalVector.of(rational(law))
    with mpmath.workdps(70):
        true = [mpmath.exp(mpmath.mpf(v.numerator) / v.denominator) for v in slow.entries]
        for vector in (fast, slow):
            found = exponentials(vector)
            gap = mpmath.fsum(
                abs(mpmath.mpf(v.numerator) / v.denominator - t)
                for v, t in zip(entries(found), true, strict=True)
            )
            assert gap <= mpmath.mpf(found.error.numerator) / found.error.denominator
            assert found.error < F(1, 10**13)


def test_vectors_of_a_few_entries() -> None:
    (like,) = vectors_of_laws({"law": RationalLaw((F(1, 2), F(1, 2), F(0)), F(1, 2**40))}).values()
    for vector in (like, RationalVector((F(1, 2), F(1, 2), F(0)))):
        made = from_entries(vector, {1: F(1, 3)}, F(0))
        assert distance(made, [F(0), F(1, 3), F(0)]) <= made.error
        assert support(vector) == [0, 1]


def coded_laws(seed: int) -> RoleLaws:
    """Rows of bfloat16 logits, which are kept as codes."""
    random = np.random.default_rng(seed)
    made = []
    for _ in range(2):
        bits = random.normal(0, 3, 12).astype(np.float32).view(np.uint32) >> 16
        row = Row(
            FloatValues(bits.astype(np.uint16)),
            Kind.LOGITS,
            Stage.RAW,
            NumberFormat.BFLOAT16,
            "row",
        )
        made.append(apply_recipe(parse_recipe("temperature:4/5"), row, RowContext()).law)
    laws = {Role(role): made[0] for role in TARGET_ROLES} | dict.fromkeys(DRAFT_ROLES, made[1])
    vectors = vectors_of_laws(laws)
    assert all(isinstance(vector, FloatVector) for vector in vectors.values())
    return RoleLaws(vectors, same=lambda one, other: laws[one] is laws[other])


@pytest.mark.parametrize("text", [*RATIOS, *ROWS, *SETS])
def test_rules_on_coded_rows(text: str) -> None:
    enumerated = {**RATIOS, **ROWS, **SETS}[text]
    for seed in range(4):
        laws = coded_laws(seed)
        target, draft = (entries(laws[role]) for role in (Role.ACCEPT_TARGET, Role.ACCEPT_DRAFT))
        expected = oracle_rules.law(draft, enumerated(oracle_rules.correct(target, draft)))
        rule, use = read_rule(text)
        outcomes = rule.outcomes(laws, use)
        assert distance(outcomes.accepted, expected.accepted) <= F(1, 10**14)
        assert distance(outcomes.recovered, expected.recovered) <= F(1, 10**13)


@settings(max_examples=40)
@given(draft=full_rows(4), row=rows(size=4))
def test_a_law_is_its_own_largest_ratio(draft: list[F], row: list[F]) -> None:
    own = RationalVector(tuple(draft))
    assert largest_ratio(own, own, RationalVector(tuple(row))).value == 1
