"""Every rule against the oracle's enumeration: roles, one-hot drafts, zeros, ties, numerics."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import pytest
from hypothesis import assume, given, settings

from tests import oracle_rules
from tests.oracle_rules import Channel, NoAnswerError, Roles
from tests.rule_laws import SETTLED, Place, agrees, float_places, places, settled

F = Fraction
Enumeration = Callable[[Roles], Channel]

#: Rule as written -> the oracle's. Rules with a ratio and a uniform: numerics and roles apply.
RATIOS: dict[str, Enumeration] = {
    "token": oracle_rules.token,
    "token:recovery=target": lambda roles: oracle_rules.token(roles, "target"),
    "token:recovery=argmax": lambda roles: oracle_rules.token(roles, "argmax"),
    "one-hot": oracle_rules.one_hot,
    "lenience:1/2": lambda roles: oracle_rules.lenience(roles, F(1, 2)),
    "lenience:1": lambda roles: oracle_rules.lenience(roles, F(1)),
    "lenience:4/5:recovery=scaled": lambda roles: oracle_rules.lenience(roles, F(4, 5), "scaled"),
    "lenience:2/3:recovery=target": lambda roles: oracle_rules.lenience(roles, F(2, 3), "target"),
    "synthetic:2/3": lambda roles: oracle_rules.synthetic(roles, F(2, 3)),
    "synthetic:1/3:recovery=target": lambda r: oracle_rules.synthetic(r, F(1, 3), "target"),
}
#: The same for rules that need a draft row.
ROWS: dict[str, Enumeration] = {
    "mixture:1/2": lambda roles: oracle_rules.mixture(roles, F(1, 2)),
    "mixture:1": lambda roles: oracle_rules.mixture(roles, F(1)),
    "mixture:0": lambda roles: oracle_rules.mixture(roles, F(0)),
    "divergence-gate:1/4": lambda roles: oracle_rules.divergence_gate(roles, F(1, 4)),
}
#: Rules without a uniform.
SETS: dict[str, Enumeration] = {
    "cascade:1/2:recovery=target": lambda roles: oracle_rules.cascade(roles, F(1, 2), "target"),
    "cascade:1:recovery=argmax": lambda roles: oracle_rules.cascade(roles, F(1), "argmax"),
    "cascade:1/3:recovery=set": lambda roles: oracle_rules.cascade(roles, F(1, 3), "set"),
    "typical:1/4:delta=2/3:recovery=target": lambda roles: oracle_rules.typical(
        roles, F(1, 4), F(2, 3), "target"
    ),
    "typical:1:delta=1:recovery=set": lambda r: oracle_rules.typical(r, F(1), F(1), "set"),
    "relaxed:2:delta=1/5": lambda roles: oracle_rules.relaxed(roles, 2, F(1, 5)),
    "relaxed:9:delta=0:recovery=set": lambda r: oracle_rules.relaxed(r, 9, F(0), "set"),
    "top-beta:2:factor=1/2": lambda roles: oracle_rules.top_beta(roles, 2, F(1, 2)),
    "top-beta:3:factor=1:recovery=target": lambda r: oracle_rules.top_beta(r, 3, F(1), "target"),
    "judge:0+2:recovery=residual": lambda r: oracle_rules.judge(r, [0, 2], "residual"),
    "judge:1:recovery=target": lambda roles: oracle_rules.judge(roles, [1], "target"),
    "judge:1+2:recovery=set": lambda roles: oracle_rules.judge(roles, [1, 2], "set"),
    "judge:0:recovery=argmax": lambda roles: oracle_rules.judge(roles, [0], "argmax"),
    "exact-match": oracle_rules.exact_match,
    "always": oracle_rules.always,
}


def compare(text: str, enumerated: Enumeration, place: Place, exactly: bool) -> None:
    assume(settled(place))
    roles = place.roles()
    try:
        expected = oracle_rules.law(roles.D, enumerated(roles))
    except NoAnswerError:
        return
    agrees(place.outcomes(text), expected, exactly)


@pytest.mark.parametrize("text", RATIOS)
@settings(max_examples=50)
@given(place=places())
def test_rules_with_a_ratio(text: str, place: Place) -> None:
    compare(text, RATIOS[text], place, exactly=True)


@pytest.mark.parametrize("text", ROWS)
@settings(max_examples=50)
@given(place=places(one_hot=False))
def test_rules_that_need_a_draft_row(text: str, place: Place) -> None:
    compare(text, ROWS[text], place, exactly=True)


@pytest.mark.parametrize("text", SETS)
@settings(max_examples=50)
@given(place=places(numerics=False))
def test_rules_without_a_uniform(text: str, place: Place) -> None:
    compare(text, SETS[text], place, exactly=True)


@pytest.mark.parametrize("text", RATIOS)
@settings(max_examples=40, deadline=None)
@given(place=float_places())
def test_float_rows_keep_their_bounds(text: str, place: Place) -> None:
    compare(text, RATIOS[text], place, exactly=False)


@pytest.mark.parametrize("text", SETS)
@settings(max_examples=40, deadline=None)
@given(place=float_places())
def test_float_rows_of_rules_without_a_uniform(text: str, place: Place) -> None:
    settled = Place(place.laws, SETTLED)
    compare(text, SETS[text], settled, exactly=False)


@pytest.mark.parametrize("text", ROWS)
@settings(max_examples=40, deadline=None)
@given(place=float_places(one_hot=False))
def test_float_rows_of_drafts(text: str, place: Place) -> None:
    compare(text, ROWS[text], place, exactly=False)
