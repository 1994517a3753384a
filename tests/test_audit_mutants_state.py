"""Faulty samplers whose fault is in the bonus, in a whole block, in the numbers, in a cache or in a
length are found, measured exactly and named."""

from __future__ import annotations

import pytest

from tests.audit_mutant_audits import by_name, found_measured_and_named, invisible, where_hidden
from tests.audit_mutant_laws import BLOCK, BONUS, CACHES, EXACT, LENGTHS, NUMBERS, Mutant

MINE = [*BONUS, *BLOCK, *NUMBERS, *CACHES, *LENGTHS, *EXACT]


@pytest.mark.parametrize("mutant", by_name(MINE))
def test_a_fault_is_found_measured_and_named(mutant: Mutant) -> None:
    found_measured_and_named(mutant)


@pytest.mark.parametrize(("mutant", "gamma", "steps"), where_hidden(MINE))
def test_some_faults_need_two_drafts_or_two_steps(mutant: Mutant, gamma: int, steps: int) -> None:
    invisible(mutant, gamma, steps)
