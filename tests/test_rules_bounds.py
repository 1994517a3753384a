"""Bounds of every rule: rows of rounded weights against rows of weights within their bound.

Weights of one value in one row move together: entries that tie do so by construction.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from specdist.exact.law import FloatLaw, RationalLaw
from specdist.exact.vector import ExactVector
from specdist.exact.vectors import vectors_of_laws
from specdist.model.numerics import read_numerics
from specdist.model.role import Role
from specdist.rules.outcomes import Outcomes, RoleLaws
from specdist.rules.registry import read_rule
from tests.rule_laws import LETTERS, distance, entries

F = Fraction
BOUND = F(1, 2**12)
RULES = (
    "token",
    "token:recovery=target",
    "token:recovery=argmax",
    "token:recovery=softmax",
    "exact-match",
    "one-hot",
    "classical",
    "lenience:1/2",
    "lenience:2/3:recovery=scaled",
    "typical:1/4:delta=1/2:recovery=target",
    "typical:1:delta=1:recovery=set",
    "cascade:1/2:recovery=set",
    "cascade:1:recovery=argmax",
    "relaxed:2:delta=1/4",
    "top-beta:2:factor=1/2:recovery=set",
    "thresholds",
    "thresholds:single=1/2:acc=3/4",
    "thresholds:single=1/4:acc=1/2:children=2+0",
    "mixture:1/3",
    "cactus:1/8",
    "divergence-gate:1/4",
    "judge:0+1:recovery=residual",
    "synthetic:1/2",
    "always",
    "optimal-loss:1/20",
    "shared-noise:gumbel",
    "shared-noise:minhash",
    "shared-noise:minhash-dart",
    "shared-noise:inverse-cdf",
    "reused-noise",
)
MODELS = (
    {},
    {"uniform": "8", "inequality": "inclusive"},
    {"residual-floor": "1/50"},
    {"ratio-epsilon": "1/10"},
)
EXPECTED_OF_ROWS = ("classical", "optimal-loss")
"""Rules that refuse some rows; what is refused is tested elsewhere."""


@st.composite
def rounded(draw: st.DrawFn, size: int) -> tuple[FloatLaw, RationalLaw]:
    """A law of rounded weights, and one it may stand for."""
    levels = draw(
        st.lists(st.sampled_from([1.0, 0.5, 0.25, 0.75, 0.0]), min_size=size, max_size=size)
    )
    levels[draw(st.integers(0, size - 1))] = 1.0
    shifts = {value: draw(st.sampled_from([F(-1), F(0), F(1), F(1, 3)])) for value in set(levels)}
    real = [F(value) / (1 + shifts[value] * BOUND * F(99, 100)) for value in levels]
    total = sum(real, F(0))
    law = FloatLaw(size, BOUND, dense=np.array(levels), origin=object())
    return law, RationalLaw(tuple(value / total for value in real))


@pytest.mark.parametrize("text", RULES)
@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_outcomes_stay_within_their_errors(text: str, data: st.DataObject) -> None:
    size = data.draw(st.integers(3, 5))
    pool = [data.draw(rounded(size)) for _ in range(3)]
    correct = data.draw(st.booleans())
    chosen = {}
    for role in LETTERS.values():
        own = pool["draft" in role] if correct else data.draw(st.sampled_from(pool))
        chosen[role] = own
    chosen[Role.DRAFTED_FROM] = chosen[Role.ACCEPT_DRAFT] if correct else chosen[Role.DRAFTED_FROM]
    one_hot = frozenset(
        role for role in (Role.ACCEPT_DRAFT, Role.RESIDUAL_DRAFT)
        if text not in ("classical", "divergence-gate:1/4", "optimal-loss:1/20")
        and data.draw(st.booleans())
    )  # fmt: skip
    model = data.draw(st.sampled_from(MODELS))
    if text.startswith(EXPECTED_OF_ROWS):
        assume(_accepted_rows(chosen))
    found, expected = (
        _outcomes(text, {role: pair[side] for role, pair in chosen.items()}, one_hot, model)
        for side in (0, 1)
    )
    error = found.accepted.error + found.recovered.error
    assert distance(found.accepted, entries(expected.accepted)) <= found.accepted.error + _own(
        expected
    )
    assert distance(found.recovered, entries(expected.recovered)) <= error + _own(expected)
    assert abs(found.unassigned - expected.unassigned) <= error


def _own(outcomes: Outcomes) -> Fraction:
    """Roots and exponentials of fractions are rounded as well."""
    return outcomes.accepted.error + outcomes.recovered.error


def _accepted_rows(chosen: dict[Role, tuple[FloatLaw, RationalLaw]]) -> bool:
    target, tested = (chosen[r][1].values for r in (Role.ACCEPT_TARGET, Role.ACCEPT_DRAFT))
    drafted = chosen[Role.DRAFTED_FROM][1].values
    covered = all(q or not p for p, q in zip(target, tested, strict=True))
    meets = any(p and q and d for p, q, d in zip(target, tested, drafted, strict=True))
    start, taken = (chosen[r][1].values for r in (Role.RESIDUAL_TARGET, Role.RESIDUAL_DRAFT))
    apart = sum((abs(s - u) for s, u in zip(start, taken, strict=True)), F(0)) / 2
    return covered and meets and apart > F(1, 10)


def _outcomes(
    text: str,
    laws: dict[Role, FloatLaw] | dict[Role, RationalLaw],
    one_hot: frozenset[Role],
    model: dict[str, str],
) -> Outcomes:
    rule, use = read_rule(text)
    dense = {role: law for role, law in laws.items() if role not in one_hot}
    vectors: dict[Role, ExactVector] = vectors_of_laws(dense, everywhere=True)
    numerics = read_numerics({"zero-draft": "reject", "empty-residual": "target", **model})
    same = lambda one, other: laws[one] is laws[other]  # noqa: E731
    return rule.outcomes(RoleLaws(vectors, one_hot, same, numerics), use)
