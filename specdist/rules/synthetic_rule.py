"""Synthetic acceptance: a rate in place of a test.

Law. ``a(x) = RATE`` whatever the rows say; after a rejection the residual ``[S - U]_+`` or S
itself. Output ``RATE D + (1 - RATE) r``: a tool for load tests, at no rate lossless in general.

Sources: vLLM 0.33.0, `v1/sample/rejection_sampler.py`, synthetic mode (``u < rate``); llama.cpp
0c1e57098, server option of the same name.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from specdist.model.recipe import RecipeStep
from specdist.model.role import Role
from specdist.model.value_texts import Interval, number_within
from specdist.rules.outcomes import Outcomes, RoleLaws
from specdist.rules.recovery import recover, recovery_option
from specdist.rules.rule import Rule


def synthetic_outcomes(laws: RoleLaws, use: RecipeStep) -> Outcomes:
    """Accepted mass ``D(x) RATE``, with the rate as a grid of uniforms reaches it."""
    coin = replace(laws.numerics.accept_test(), epsilon=Fraction(0))
    chance = coin.chance(use.number(), Fraction(1))
    accepted = laws.reaching(laws[Role.DRAFTED_FROM]).scaled(chance)
    return recover(laws, accepted, use.word("recovery"))


SYNTHETIC = Rule(
    "synthetic",
    "a synthetic acceptance rate",
    "lossy",
    synthetic_outcomes,
    metavar="RATE",
    value=number_within(Interval(low=Fraction(0), high=Fraction(1))),
    options=(recovery_option("residual", "target", default="residual"),),
    divides=False,
)
