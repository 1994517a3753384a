"""Bugs of specdist itself are never a verdict: mass that is lost, twins that disagree."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

import specdist
from specdist.exact.float_vector import FloatVector
from specdist.model.recipe import RecipeStep
from specdist.rules import registry
from specdist.rules.outcomes import Outcomes, RoleLaws
from specdist.rules.token_rule import token_outcomes
from specdist.verify.comparison import LostMassError
from specdist.verify.position import DesynchronisedError


def forgetful(laws: RoleLaws, use: RecipeStep) -> Outcomes:
    outcomes = token_outcomes(laws, use)
    return replace(outcomes, recovered=outcomes.recovered.scaled(outcomes.rejected))


def test_lost_mass_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    rule = registry.rule_named("token")
    monkeypatch.setattr(registry, "RULES", (replace(rule, outcomes=forgetful),))
    with pytest.raises(LostMassError):
        specdist.check(["1/2", "3/10", "1/5"], ["1/5", "1/2", "3/10"])


def test_float_vectors_that_disagree_with_fractions_accuse_nobody(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rows = np.array([2.0, 1.0, -1.0]), np.array([1.0, 2.0, 0.5])
    assert specdist.check(*rows, kind="logits").verdict == "equal"
    half = Fraction(1, 2)
    monkeypatch.setattr(FloatVector, "minimum", lambda self, other: self.scaled(half))
    with pytest.raises(DesynchronisedError):
        specdist.check(*rows, kind="logits")
