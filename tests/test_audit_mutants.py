"""Faulty samplers whose fault is in one position are found, measured exactly and named."""

from __future__ import annotations

import pytest

from tests.audit_mutant_audits import by_name, found_measured_and_named, invisible, where_hidden
from tests.audit_mutant_laws import ACCEPTANCE, DRAFTS, MUTANTS, RECOVERY, Mutant

MINE = [*ACCEPTANCE, *RECOVERY, *DRAFTS]


@pytest.mark.parametrize("mutant", by_name(MINE))
def test_a_fault_is_found_measured_and_named(mutant: Mutant) -> None:
    found_measured_and_named(mutant)


@pytest.mark.parametrize(("mutant", "gamma", "steps"), where_hidden(MINE))
def test_some_faults_need_two_drafts(mutant: Mutant, gamma: int, steps: int) -> None:
    invisible(mutant, gamma, steps)


def test_there_are_enough_of_them() -> None:
    assert len({mutant.name for mutant in MUTANTS}) == len(MUTANTS) >= 25
