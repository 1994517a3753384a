"""Errors of outcomes: weights that are rounded within their bound against the real ones.

Every case takes rows whose weights carry a bound, and one choice of real weights within it, as
fractions without an error; the outcomes may differ by what the vectors claim and by no more.
"""

from __future__ import annotations

from fractions import Fraction
from typing import NamedTuple

import numpy as np
import pytest

from specdist.exact.entropy import entropy
from specdist.exact.law import FloatLaw, Law, RationalLaw
from specdist.exact.vector import ExactVector
from specdist.model.numerics import read_numerics
from specdist.model.proposal import Proposal, read_proposal
from specdist.model.role import TARGET_ROLES, Role
from specdist.model.verdict import Verdict
from specdist.rules.keep_rules import read_keep
from specdist.rules.outcomes import Outcomes
from specdist.rules.registry import read_rule
from specdist.verify.comparison import compare
from specdist.verify.setup import Setup

BOUND = Fraction(1, 2**10)
Weights = tuple[int | Fraction, ...]


class Case(NamedTuple):
    """A rule on a target and a draft; ``up`` are the weights that are really larger by the bound,
    the target's first, and the tested and subtracted rows where they are not the draft."""

    rule: str
    target: Weights
    draft: Weights
    up: tuple[tuple[int, ...], tuple[int, ...]] = ((), ())
    numerics: tuple[tuple[str, str], ...] = ()
    keep: str = ""
    proposal: tuple[tuple[str, str], ...] = ()
    subtracts_target: bool = False
    mass: Fraction = Fraction(1)


CASES = {
    # T is empty as rounded, and P alone comes out; really token 0 is in T.
    "typical, an open set": Case(
        "typical:1/4:delta=1:recovery=target", (1, 1, 1, 1), (1, 1, 2, 4), ((0,), ())
    ),
    # The budget is TV as rounded: c = 1, token verification; really it is less.
    "optimal loss, all of the budget": Case("optimal-loss:1/4", (1, 2, 1), (2, 1, 1), ((1,), (0,))),
    "gate, TV at the limit": Case("divergence-gate:1/4", (1, 2, 1), (2, 1, 1), ((1,), (0,))),
    "gate, nearly one law": Case("token:recovery=target", (1, 2, 1), (1, 2, 1), ((1,), ())),
    "lenience, a ratio of 1": Case("lenience:1/2", (1, 2, 1), (1, 2, 1), ((0,), ())),
    "set, everything kept": Case("cascade:1/2:recovery=argmax", (2, 1, 1), (1, 1, 2), ((0,), ())),
    "keep by a top probability at its limit": Case(
        "token",
        (1, 2, 1),
        (2, 1, 1),
        ((), (1,)),
        keep="top-probability:1/2",
        proposal=(("dropped", "target"),),
    ),
    "keep by the own probability, tokens of a mass that is rounded": Case(
        "token",
        (1, 2, 3),
        (2, 1, 1),
        ((), (0,)),
        keep="tokens:0=0",
        proposal=(("dropped", "target"),),
    ),
    "redraws of a mass that is rounded": Case(
        "token",
        (1, 2, 3),
        (2, 1, 1),
        ((), (0,)),
        keep="tokens:0=0",
        proposal=(("dropped", "redraw-2"),),
    ),
    "redraws until kept": Case(
        "token",
        (1, 2, 3),
        (2, 1, 1),
        ((), (0,)),
        keep="tokens:0=1/2",
        proposal=(("dropped", "redraw"),),
    ),
    "dropped after the test": Case(
        "token",
        (1, 2, 3),
        (2, 1, 1),
        ((), (0,)),
        keep="tokens:0=0",
        proposal=(("keep-when", "after"),),
    ),
    "an empty residual that draws from the target": Case(
        "token",
        (1, 2, 3),
        (3, 2, 1),
        ((0,), (0,)),
        (("empty-residual", "target"),),
        subtracts_target=True,
    ),
    "an empty residual that may hold something": Case(
        "synthetic:1/2", (1, 2, 3), (1, 2, 3), ((0,), ()), (("empty-residual", "last"),)
    ),
    "a grid without ends": Case(
        "token",
        (1, 3, 1),
        (3, 1, 1),
        ((0,), ()),
        (("uniform", "2:ends=neither"), ("ratio", "uncapped")),
    ),
    "intervals that touch": Case("shared-noise:inverse-cdf", (1, 1, 2), (2, 1, 1), ((0,), (2,))),
}


def _law(weights: Weights, as_floats: bool, bound: Fraction, mass: Fraction) -> Law:
    if as_floats:
        dense = np.array([float(weight) for weight in weights])
        return FloatLaw(len(weights), bound, dense=dense, mass=mass)
    total = sum(weights, Fraction(0))
    return RationalLaw(tuple(Fraction(weight) / total for weight in weights), bound, mass=mass)


def _real(weights: Weights, up: tuple[int, ...]) -> Weights:
    return tuple(
        Fraction(weight) / (1 - BOUND if token in up else 1) for token, weight in enumerate(weights)
    )


def _setup(case: Case, target: Law, draft: Law) -> Setup:
    laws = {role: target if role in TARGET_ROLES else draft for role in Role}
    if case.subtracts_target:
        laws[Role.RESIDUAL_DRAFT] = target
    rule, use = read_rule(case.rule)
    numerics = read_numerics({"zero-draft": "reject", **dict(case.numerics)})
    proposal: Proposal | None = None
    if case.keep:
        proposal = read_proposal(read_keep(case.keep), dict(case.proposal))
    return Setup(laws, frozenset(), rule, use, numerics, proposal)


def _entries(vector: ExactVector) -> list[Fraction]:
    return [vector.value(token) for token in range(vector.size)]


def _apart(first: ExactVector, second: ExactVector) -> Fraction:
    pairs = zip(_entries(first), _entries(second), strict=True)
    return sum((abs(mine - other) for mine, other in pairs), Fraction(0))


@pytest.mark.parametrize("as_floats", [False, True], ids=["fractions", "floats"])
@pytest.mark.parametrize("name", CASES)
def test_errors_bound_what_rounding_changes(name: str, as_floats: bool) -> None:
    case = CASES[name]
    rounded = _setup(
        case,
        _law(case.target, as_floats, BOUND, case.mass),
        _law(case.draft, as_floats, BOUND, case.mass),
    )
    real = _setup(
        case,
        _law(_real(case.target, case.up[0]), False, Fraction(0), case.mass),
        _law(_real(case.draft, case.up[1]), False, Fraction(0), case.mass),
    )
    laws, truth = rounded.role_laws(fractions=not as_floats), real.role_laws(fractions=True)
    found: Outcomes = rounded.outcomes(laws)
    expected: Outcomes = real.outcomes(truth)
    assert _apart(found.accepted, expected.accepted) <= found.accepted.error
    assert _apart(found.recovered, expected.recovered) <= found.recovered.error
    verdict = compare(found, laws[Role.REFERENCE], rounded.lossless_by_roles).verdict
    really = compare(expected, truth[Role.REFERENCE], False).verdict
    assert verdict in (really, Verdict.UNDECIDED)


def test_entropy_of_a_row_with_a_larger_sum() -> None:
    """Entries above 1 have a negative term, which no lower bound may cut off."""
    law = _law((63, 1), True, BOUND, Fraction(1))
    setup = _setup(Case("token", (63, 1), (63, 1)), law, law)
    row = setup.role_laws()[Role.REFERENCE].scaled(Fraction(2))
    real = -2.0 * (63 / 64) * np.log(2 * 63 / 64) - (2 / 64) * np.log(2 / 64)
    found = entropy(row)
    assert real < 0
    assert float(found.low) <= real <= float(found.high)
