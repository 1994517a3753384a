"""Float vectors against their readable twin, and the token rule on both, role by role."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from specdist.exact.accept_test import AcceptTest, UniformGrid
from specdist.exact.float_vector import FloatVector
from specdist.exact.law import FloatLaw, RationalLaw
from specdist.exact.rational_vector import RationalVector
from specdist.exact.vector import ExactVector
from specdist.exact.vectors import rational, same_law, vectors_of_laws
from specdist.model.numerics import Numerics
from specdist.model.role import Role
from specdist.rules.outcomes import RoleLaws
from specdist.rules.registry import read_rule
from specdist.rules.token_rule import token_outcomes
from specdist.verify.comparison import compare

SIZE = 7
entries = st.sampled_from([0.0, 1.0, 0.5, 0.25, 3.0**-3, 1e-9, 2.0**-1074]) | st.floats(2**-40, 1)

GRIDS = [
    AcceptTest(UniformGrid(points, zero, one), inclusive, capped, epsilon, zero_draft)
    for points, zero, one in ((8, True, False), (3, False, True), (2**24, True, True))
    for inclusive, capped in ((False, True), (True, False))
    for epsilon, zero_draft in ((Fraction(0), "accept-all"), (Fraction(1, 10**10), "reject"))
]
REJECT = AcceptTest(zero_draft="reject")
ACCEPT = AcceptTest(zero_draft="accept")


@st.composite
def float_laws(draw: st.DrawFn, sparse: bool) -> FloatLaw:
    weights = draw(st.lists(entries, min_size=SIZE, max_size=SIZE))
    weights[draw(st.integers(0, SIZE - 1))] = 1.0
    array = np.array(weights)
    if not sparse:
        return FloatLaw(SIZE, Fraction(0), dense=array)
    ids = np.flatnonzero(array)
    return FloatLaw(SIZE, Fraction(0), dense=array[ids], ids=ids)


@st.composite
def vector_pairs(draw: st.DrawFn) -> tuple[list[FloatVector], list[RationalVector]]:
    sparse = draw(st.booleans())
    laws = {name: draw(float_laws(sparse)) for name in "abc"}
    fast = vectors_of_laws(laws)
    slow = [RationalVector.of(rational(law)) for law in laws.values()]
    floats = [vector for vector in fast.values() if isinstance(vector, FloatVector)]
    assert len(floats) == 3
    return floats, slow


def entries_of(vector: ExactVector) -> list[Fraction]:
    return [vector.value(token) for token in range(SIZE)]


def nonzero(vector: ExactVector, count: int) -> list[int]:
    """The largest entries that are not 0: a sparse vector does not list the tokens outside it."""
    return [token for token in vector.largest(count) if vector.value(token)]


@given(vector_pairs())
def test_every_operation_equals_its_twin(pairs: object) -> None:
    (a, b, c), (x, y, z) = pairs  # type: ignore[misc]
    third = Fraction(1, 3)
    cases = [
        (a + b, x + y),
        (a - b, x - y),
        (a.minimum(b), x.minimum(y)),
        ((a - b).positive_part(), (x - y).positive_part()),
        ((a - b.scaled(third)).positive_part(), (x - y.scaled(third)).positive_part()),
        (a.minimum(b).minimum(c), x.minimum(y).minimum(z)),
        ((a.minimum(b) - c).positive_part() + c, (x.minimum(y) - z).positive_part() + z),
        (a.accepted_from(b, a, REJECT), x.accepted_from(y, x, REJECT)),
        (a - a, x - x),
        (a.where(b - c), x.where(y - z)),
        (a.where(b - c, also_zero=True), x.where(y - z, also_zero=True)),
        (a.where(b - c, sure=c), x.where(y - z, sure=z)),
        (a.where(b - a.constant(third)), x.where(y - x.constant(third))),
        (a.among([0, 3, SIZE - 1]), x.among([0, 3, SIZE - 1])),
        ((a - b).among([2]) + c.scaled(third), (x - y).among([2]) + z.scaled(third)),
    ]
    for fast, slow in cases:
        assert entries_of(fast) == entries_of(slow)
        assert fast.total() == slow.total()
        assert fast.is_zero() == slow.is_zero()
        assert nonzero(fast, 3) == nonzero(slow, 3)
    assert a.drafted_outside(b) == x.drafted_outside(y)


@given(vector_pairs())
def test_products_and_quotients_keep_their_bounds(pairs: object) -> None:
    (a, b, c), (x, y, z) = pairs  # type: ignore[misc]
    shares, lost = a.over_complement(b)
    exact_shares, exact_lost = x.over_complement(y)
    assert lost == exact_lost
    cases = [
        (a.product(b), x.product(y)),
        (a.accepted_from(b, c, ACCEPT), x.accepted_from(y, z, ACCEPT)),
        (a.accepted_from(b, c, REJECT), x.accepted_from(y, z, REJECT)),
        (shares, exact_shares),
        *((a.accepted_from(b, c, t), x.accepted_from(y, z, t)) for t in GRIDS),
        *((a.accepted_from(b, a, t), x.accepted_from(y, x, t)) for t in GRIDS),
        (a.minimum(b).product(c - b), x.minimum(y).product(z - y)),
    ]
    for fast, slow in cases:
        values = zip(entries_of(fast), entries_of(slow), strict=True)
        assert sum(abs(one - other) for one, other in values) <= fast.error


@given(
    weights=st.lists(st.integers(0, 2**24 - 1), min_size=SIZE, max_size=SIZE).filter(any),
    scales=st.lists(st.integers(-149, 0), min_size=SIZE, max_size=SIZE),
    mixed=float_laws(sparse=False),
)
def test_floats_over_their_sum_stay_floats(
    weights: list[int], scales: list[int], mixed: FloatLaw
) -> None:
    """A law of float32 numbers divided by their exact sum, beside one with float weights: what a
    kernel recovers from. Fractions would take minutes over a vocabulary."""
    numbers = [w * Fraction(2) ** scale for w, scale in zip(weights, scales, strict=True)]
    total = sum(numbers, Fraction(0))
    law = RationalLaw(tuple(number / total for number in numbers))
    vector = vectors_of_laws({"law": law, "mixed": mixed}, everywhere=True)["law"]
    assert isinstance(vector, FloatVector)
    assert [vector.value(token) for token in range(SIZE)] == list(law.values)


def test_a_law_of_other_numbers_becomes_fractions() -> None:
    uneven = tuple(Fraction(1, n) for n in (3, 7, 10**40 + 1))
    law = RationalLaw((*uneven, 1 - sum(uneven, Fraction(0))))
    mixed = FloatLaw(4, Fraction(0), dense=np.ones(4))
    vectors = vectors_of_laws({"law": law, "mixed": mixed})
    assert all(isinstance(vector, RationalVector) for vector in vectors.values())
    assert [vectors["law"].value(token) for token in range(4)] == list(law.values)


def test_terms_that_cancel_prove_equality_for_the_real_weights_too() -> None:
    bound = Fraction(1, 2**40)
    first = FloatLaw(4, bound, dense=np.array([1.0, 0.3, 0.2, 0.1]), origin="a")
    second = FloatLaw(4, bound, dense=np.array([0.2, 1.0, 0.2, 0.1]), origin="b")
    vectors = vectors_of_laws({"target": first, "draft": second})
    target, draft = vectors["target"], vectors["draft"]
    accepted = draft.minimum(target)
    residual = (target - draft).positive_part()
    output = accepted + residual.scaled((1 - accepted.total()) / residual.total())
    assert (output - target).vanishes_identically()
    assert output.error > 0
    twin = FloatLaw(4, bound, dense=np.array([1.0, 0.3, 0.2, 0.1]), origin="other temperature")
    both = vectors_of_laws({"one": first, "other": twin})
    gap = both["one"] - both["other"]
    assert gap.is_zero()
    assert not gap.vanishes_identically()
    assert not same_law(first, twin)
    assert same_law(first, FloatLaw(4, bound, dense=first.weights, origin="a"))


def role_vectors(laws: dict[Role, FloatLaw], fast: bool) -> dict[Role, ExactVector]:
    if fast:
        return vectors_of_laws(laws)
    return {role: RationalVector.of(rational(law)) for role, law in laws.items()}


@settings(max_examples=40, deadline=None)
@given(st.data())
def test_the_rule_gives_the_same_law_on_both(data: st.DataObject) -> None:
    pool = [data.draw(float_laws(sparse=False)) for _ in range(3)]
    roles = [role for role in Role if role is not Role.BONUS_FROM]
    laws = {role: data.draw(st.sampled_from(pool)) for role in roles}
    for accept, residual in product([False, True], repeat=2):
        one_hot = {Role.ACCEPT_DRAFT} if accept else set()
        one_hot |= {Role.RESIDUAL_DRAFT} if residual else set()
        found = []
        for fast in (True, False):
            vectors = role_vectors(laws, fast)
            role_laws = RoleLaws(
                vectors,
                frozenset(one_hot),
                lambda one, other: laws[one] is laws[other],
                Numerics(zero_draft="accept"),
            )
            outcomes = token_outcomes(role_laws, read_rule("token")[1])
            found.append(compare(outcomes, vectors[Role.REFERENCE], proven_by_roles=False))
        quick, slow = found
        assert slow.bound == 0
        assert abs(quick.total_variation - slow.total_variation) <= 2 * quick.bound
        if quick.verdict != slow.verdict:
            assert quick.verdict == "undecided"


@pytest.mark.parametrize("size", [4_096, 20_000])
def test_foreseen_sums_equal_plain_ones(size: int) -> None:
    random = np.random.default_rng(size)
    first = np.exp(-random.random(size) * 20)
    second = first * np.exp(random.normal(0, 1e-14, size))  # every comparison is close
    laws = {
        name: FloatLaw(size, Fraction(0), dense=weights)
        for name, weights in (("target", first), ("draft", second))
    }
    vectors = vectors_of_laws(laws)
    accepted = vectors["draft"].minimum(vectors["target"])
    totals = [sum(map(Fraction, weights.tolist()), Fraction(0)) for weights in (first, second)]
    rows = [
        [Fraction(weight) * other for weight in weights.tolist()]
        for weights, other in ((first, totals[1]), (second, totals[0]))
    ]
    expected = sum(map(min, *rows), Fraction(0)) / (totals[0] * totals[1])
    assert accepted.total() == expected
