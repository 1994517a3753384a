"""Faulty samplers are found with their exact total variation, and named."""

from __future__ import annotations

from fractions import Fraction

import pytest

from specdist.audit.context import Setup
from specdist.audit.run import Audit
from specdist.audit.tables import Table, tables
from specdist.model.audit_report import AuditReport
from specdist.model.verdict import Verdict
from tests import oracle_audit as oracle
from tests.audit_mutant_laws import MUTANTS, Mutant

CLOSE = Fraction(1, 2**40)
COUNT = 2


def audited(adapter: object, gamma: int, steps: int, count: int = COUNT) -> AuditReport:
    setup = Setup(3, gamma, steps, dtype="float64", framework="numpy")
    return Audit(adapter, "mutants.py:step", setup, count=count).report()  # type: ignore[arg-type]


def expected(mutant: Mutant, table: Table, gamma: int, steps: int) -> Fraction:
    pair = oracle.Pair(table.target, table.draft, table.vocab, gamma)
    return oracle.distance(mutant.law(pair, steps), pair)


def by_name(mutants: list[Mutant]) -> list[object]:
    return [pytest.param(mutant, id=mutant.name) for mutant in mutants]


@pytest.mark.parametrize("mutant", by_name(MUTANTS))
def test_a_fault_is_found_measured_and_named(mutant: Mutant) -> None:
    report = audited(mutant.adapter, mutant.gamma, mutant.steps)
    assert report.verdict is Verdict.DIFFERENT
    for table, result in zip(tables(3, COUNT), report.tables, strict=True):
        right = expected(mutant, table, mutant.gamma, mutant.steps)
        if mutant.exact:
            assert result.total_variation.exact == right
        assert abs(result.total_variation.exact - right) < CLOSE
        if result.verdict is Verdict.DIFFERENT:
            assert mutant.named in result.resembles
        else:
            assert result.resembles == ()


HIDDEN = [(mutant, gamma, steps) for mutant in MUTANTS for gamma, steps in mutant.hidden]


@pytest.mark.parametrize(
    ("mutant", "gamma", "steps"),
    [
        pytest.param(*item, id=f"{item[0].name}, {item[1]} drafts, {item[2]} steps")
        for item in HIDDEN
    ],
)
def test_some_faults_need_two_drafts_or_two_steps(mutant: Mutant, gamma: int, steps: int) -> None:
    report = audited(mutant.adapter, gamma, steps)
    assert report.verdict is not Verdict.DIFFERENT
    for table, result in zip(tables(3, COUNT), report.tables, strict=True):
        assert expected(mutant, table, gamma, steps) == 0
        assert result.total_variation.exact < CLOSE
        assert result.resembles == ()


def test_there_are_enough_of_them() -> None:
    assert len({mutant.name for mutant in MUTANTS}) == len(MUTANTS) >= 25
