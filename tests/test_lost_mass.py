"""A rule whose outcomes do not sum to one is a bug, never a verdict."""

from __future__ import annotations

from dataclasses import replace

import pytest

import specdist
from specdist.rules import registry
from specdist.rules.outcomes import Outcomes, RoleLaws
from specdist.rules.token_rule import token_outcomes
from specdist.verify.comparison import LostMassError


def forgetful(laws: RoleLaws) -> Outcomes:
    outcomes = token_outcomes(laws)
    return replace(outcomes, recovered=outcomes.recovered.scaled(outcomes.rejected))


def test_lost_mass_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    (rule,) = registry.RULES
    monkeypatch.setattr(registry, "RULES", (replace(rule, outcomes=forgetful),))
    with pytest.raises(LostMassError):
        specdist.check(["1/2", "3/10", "1/5"], ["1/5", "1/2", "3/10"])
