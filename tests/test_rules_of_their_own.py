"""Rules that no common shape covers, against the oracle: envelopes, coins, raised laws, noise."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from math import isqrt
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from specdist.exact.vectors import rational
from specdist.model.role import Role
from specdist.rules.registry import read_rule
from tests import oracle_rules
from tests.oracle_rules import Channel, NoAnswerError, Roles
from tests.rule_laws import (
    LETTERS,
    Place,
    agrees,
    distance,
    entries,
    float_laws,
    float_places,
    place,
    place_of,
    places,
    settled,
)
from tests.strategies import full_rows, pairs, rows

F = Fraction
SHARES = st.sampled_from([F(1), F(1, 2), F(3, 10), F(9, 10), F(1, 10**9)])


def check(
    text: str, enumerated: Callable[[Roles], Channel], found: Place, exactly: bool = True
) -> None:
    assume(settled(found))
    roles = found.roles()
    try:
        expected = oracle_rules.law(roles.D, enumerated(roles))
    except NoAnswerError:
        return
    agrees(found.outcomes(text), expected, exactly)


@st.composite
def covered(draw: st.DrawFn) -> Place:
    """Positions whose draft rows give every token something; the draft may be another law."""
    target, _ = draw(pairs(max_size=6))
    size = len(target)
    tested = draw(full_rows(size))
    drafted = draw(st.one_of(st.just(tested), full_rows(size)))
    letters: dict[str, Any] = {"P": target, "S": draw(st.sampled_from([target, tested]))}
    return place_of(letters | {"D": drafted, "Q": tested, "U": draw(rows(size))}, {
        "empty-residual": "target",
        "uniform": draw(st.sampled_from(["real", "8", "5:ends=both"])),
        "inequality": draw(st.sampled_from(["strict", "inclusive"])),
    })  # fmt: skip


@settings(max_examples=50)
@given(found=covered())
def test_classical(found: Place) -> None:
    check("classical", oracle_rules.classical, found)


@settings(max_examples=50)
@given(found=covered(), share=st.fractions(0, 1, max_denominator=9))
def test_the_front_of_least_loss(found: Place, share: F) -> None:
    roles = found.roles()
    assert roles.U is not None
    apart = oracle_rules.total_variation(roles.S, roles.U)
    assume(apart)
    budget = share * apart
    check(f"optimal-loss:{budget}", lambda r: oracle_rules.optimal_loss(r, budget), found)


@settings(max_examples=80)
@given(found=places(), single=SHARES, acc=SHARES)
def test_one_random_draft_under_thresholds(found: Place, single: F, acc: F) -> None:
    with_one = found.numerics.get("uniform", "real").endswith(("one", "both"))
    assume(not with_one)  # a child above the single threshold needs no coin
    roles = found.roles()
    assume(max(roles.S) < 1)  # the oracle recovers the rejected token itself there
    text = f"thresholds:single={single}:acc={acc}"
    plain = Place(found.laws, {**found.numerics, "residual-floor": "0"})
    check(text, lambda r: oracle_rules.thresholds(r, single, acc), plain)


@settings(max_examples=50)
@given(row=rows(max_size=6), single=SHARES, acc=SHARES, data=st.data())
def test_siblings(row: list[F], single: F, acc: F, data: st.DataObject) -> None:
    order = data.draw(st.permutations(range(len(row))))
    children = order[: data.draw(st.integers(1, len(row) - 1))]
    text = f"thresholds:single={single}:acc={acc}:children={'+'.join(map(str, children))}"
    expected = oracle_rules.siblings(row, children, single, acc)
    found = place(row, row).outcomes(text)
    assert entries(found.accepted) == expected.accepted
    assert entries(found.recovered) == expected.recovered
    assert found.accepted.error == 0


def _close_root(square: F) -> F:
    exact = F(isqrt(square.numerator), isqrt(square.denominator))
    return (
        exact
        if exact**2 == square
        else F(isqrt(square.numerator * 10**160 // square.denominator), 10**80)
    )


DELTAS = st.sampled_from([F(1, 8), F(1, 2), F(2), F(1, 100), F(0)])


@st.composite
def squares(draw: st.DrawFn) -> Place:
    """Target entries a^2 / (a^2 + b^2), or halves: the roots are rational at delta 1/2 and 1/8."""
    target = draw(
        st.permutations([F(1, 2), F(1, 2), F(0), F(0)]) | st.permutations([F(1, 5), F(4, 5), F(0)])
    )
    size = len(target)
    tested = draw(full_rows(size) | rows(size))
    numerics = {"zero-draft": "reject", "empty-residual": "last"}
    if draw(st.booleans()):
        numerics["residual-floor"] = "1/50"
    letters: dict[str, Any] = dict.fromkeys("DQ", tested) | dict.fromkeys("PS", target)
    return place_of(letters | {"U": draw(st.sampled_from([tested, None]))}, numerics)


@settings(max_examples=80)
@given(found=squares(), delta=st.sampled_from([F(1, 8), F(1, 2)]))
def test_cactus_exactly(found: Place, delta: F) -> None:
    check(f"cactus:{delta}", lambda r: oracle_rules.cactus(r, delta), found)


@settings(max_examples=80)
@given(found=places(), delta=DELTAS)
def test_cactus_within_its_bound(found: Place, delta: F) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(oracle_rules, "_root", _close_root)
        check(f"cactus:{delta}", lambda r: oracle_rules.cactus(r, delta), _any_root(found), False)


def _any_root(found: Place) -> Place:
    """No grid: a close root may lie on the other side of a point."""
    return Place(found.laws, {k: v for k, v in found.numerics.items() if k != "uniform"})


@settings(max_examples=80, deadline=None)
@given(found=float_places(), delta=DELTAS)
def test_cactus_on_float_rows(found: Place, delta: F) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(oracle_rules, "_root", _close_root)
        check(f"cactus:{delta}", lambda r: oracle_rules.cactus(r, delta), _any_root(found), False)


SCHEMES = pytest.mark.parametrize("scheme", ["gumbel", "minhash", "minhash-dart", "inverse-cdf"])


@SCHEMES
@settings(max_examples=40)
@given(pair=pairs())
def test_couplings(scheme: str, pair: tuple[list[F], list[F]]) -> None:
    found = place(*pair)
    agrees(
        found.outcomes(f"shared-noise:{scheme}"), oracle_rules.shared_noise(found.roles(), scheme)
    )


@SCHEMES
@settings(max_examples=40, deadline=None)
@given(found=float_places())
def test_couplings_of_float_rows(scheme: str, found: Place) -> None:
    outcomes = found.outcomes(f"shared-noise:{scheme}")
    expected = oracle_rules.shared_noise(found.roles(), scheme)
    agrees(outcomes, expected, exactly=False)
    assert (
        outcomes.accepted + outcomes.recovered - found.role_laws()[Role.ACCEPT_TARGET]
    ).is_zero()


@settings(max_examples=40)
@given(found=places())
def test_reused_noise(found: Place) -> None:
    check("reused-noise", oracle_rules.reused_noise, found)


@settings(max_examples=40, deadline=None)
@given(found=float_places())
def test_reused_noise_on_float_rows(found: Place) -> None:
    check("reused-noise", oracle_rules.reused_noise, found, exactly=False)


def test_reused_noise_of_the_field_case() -> None:
    target, draft = [F(1, 5), F(2, 5), F(2, 5)], [F(3, 5), F(3, 10), F(1, 10)]
    outcomes = place(target, draft).outcomes("reused-noise")
    assert outcomes.rejected == F(2, 5)
    assert entries(outcomes.recovered) == [F(0), F(2, 5) * F(5, 36), F(2, 5) * F(31, 36)]
    assert entries(outcomes.accepted + outcomes.recovered) == [F(1, 5), F(16, 45), F(4, 9)]


@settings(max_examples=40)
@given(found=places(numerics=False), data=st.data())
def test_given(found: Place, data: st.DataObject) -> None:
    size = found.size
    shares = st.fractions(0, 1, max_denominator=6)
    accept = data.draw(st.lists(shares, min_size=size, max_size=size))
    assume(any(accept))
    recovery = data.draw(rows(size))
    rule, use = read_rule("given")
    outcomes = rule.outcomes(found.role_laws({"accept": accept, "recovery": recovery}), use)
    roles = found.roles()
    agrees(outcomes, oracle_rules.law(roles.D, oracle_rules.given(roles, accept, recovery)))


@settings(max_examples=40)
@given(found=places(numerics=False))
def test_recovery_by_softmax(found: Place) -> None:
    check("token:recovery=softmax", lambda r: oracle_rules.token(r, "softmax"), found, False)


@settings(max_examples=40, deadline=None)
@given(found=float_places())
def test_recovery_by_softmax_on_float_rows(found: Place) -> None:
    check("token:recovery=softmax", lambda r: oracle_rules.token(r, "softmax"), found, False)


@settings(max_examples=40)
@given(found=places(numerics=False), weight=st.fractions(0, 1, max_denominator=5))
def test_mixture_with_a_one_hot_draft(found: Place, weight: F) -> None:
    """h = LAMBDA P + (1 - LAMBDA) [y = x], drafted token by drafted token."""
    one_hot = Place(
        {**found.laws, Role.ACCEPT_DRAFT: None, Role.RESIDUAL_DRAFT: None}, found.numerics
    )
    roles = one_hot.roles()
    assume(max(roles.S) < 1)
    channel = [
        (weight * p + 1 - weight, oracle_rules.without(roles.S, x)) for x, p in enumerate(roles.P)
    ]
    expected = oracle_rules.law(roles.D, channel)
    agrees(one_hot.outcomes(f"mixture:{weight}"), expected)


@settings(max_examples=40, deadline=None)
@given(data=st.data(), text=st.sampled_from(["classical", "optimal-loss:1/20"]))
def test_envelope_and_front_on_float_rows(data: st.DataObject, text: str) -> None:
    size = data.draw(st.integers(3, 6))
    pool = [data.draw(float_laws(size)) for _ in range(3)]
    laws = {role: data.draw(st.sampled_from(pool)) for role in LETTERS.values()}
    found = Place({**laws, Role.REFERENCE: laws[Role.ACCEPT_TARGET]}, {"zero-draft": "reject"})
    roles = found.roles()
    assert roles.Q is not None
    assert roles.U is not None
    if text == "classical":
        reach = any(p and d and q for p, d, q in zip(roles.P, roles.D, roles.Q, strict=True))
        assume(reach and all(q or not p for p, q in zip(roles.P, roles.Q, strict=True)))
        assume(all(q or not d for d, q in zip(roles.D, roles.Q, strict=True)))
        check(text, oracle_rules.classical, found, exactly=False)
    else:
        assume(oracle_rules.total_variation(roles.S, roles.U) >= F(1, 20))
        check(text, lambda r: oracle_rules.optimal_loss(r, F(1, 20)), found, exactly=False)


@settings(max_examples=40, deadline=None)
@given(found=float_places(one_hot=False), single=SHARES, acc=SHARES)
def test_thresholds_on_float_rows(found: Place, single: F, acc: F) -> None:
    roles = found.roles()
    assume(max(roles.S) < 1)
    plain = Place(found.laws, {})
    text = f"thresholds:single={single}:acc={acc}"
    check(text, lambda r: oracle_rules.thresholds(r, single, acc), plain, exactly=False)
    listed = f"{text}:children=2+0"
    expected = oracle_rules.siblings(roles.P, [2, 0], single, acc)
    outcomes = Place(
        {**found.laws, Role.RESIDUAL_TARGET: found.laws[Role.ACCEPT_TARGET]}, {}
    ).outcomes(listed)
    assert distance(outcomes.accepted, expected.accepted) <= outcomes.accepted.error


def test_laws_that_are_one_are_one_in_a_place() -> None:
    found = place([F(1, 2), F(1, 4), F(1, 4)], [F(1, 4), F(1, 4), F(1, 2)])
    assert found.role_laws().same(Role.REFERENCE, Role.RESIDUAL_TARGET)
    assert rational(found.laws[Role.DRAFTED_FROM]).values[2] == F(1, 2)  # type: ignore[arg-type]
