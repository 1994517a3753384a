"""What is asked of every mutant: that it is found, measured and named, and where it is hidden."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest

from specdist.audit.context import Setup
from specdist.audit.run import Audit
from specdist.audit.tables import Table, tables
from specdist.model.audit_report import AuditReport
from specdist.model.verdict import Verdict
from tests import oracle_audit as oracle
from tests.audit_mutant_laws import Mutant

CLOSE = Fraction(1, 2**40)
COUNT = 2


def audited(adapter: Any, gamma: int, steps: int, count: int = COUNT) -> AuditReport:
    setup = Setup(3, gamma, steps, dtype="float64", framework="numpy")
    return Audit(adapter, "mutants.py:step", setup, count=count).report()


def expected(mutant: Mutant, table: Table, gamma: int, steps: int) -> Fraction:
    pair = oracle.Pair(table.target, table.draft, table.vocab, gamma)
    return oracle.distance(mutant.law(pair, steps), pair)


def by_name(mutants: list[Mutant]) -> list[Any]:
    return [pytest.param(mutant, id=mutant.name) for mutant in mutants]


def where_hidden(mutants: list[Mutant]) -> list[Any]:
    return [
        pytest.param(mutant, gamma, steps, id=f"{mutant.name}, {gamma} drafts, {steps} steps")
        for mutant in mutants
        for gamma, steps in mutant.hidden
    ]


def found_measured_and_named(mutant: Mutant) -> None:
    report = audited(mutant.adapter, mutant.gamma, mutant.steps)
    assert report.verdict is Verdict.DIFFERENT
    for table, result in zip(tables(3, COUNT), report.tables, strict=True):
        right = expected(mutant, table, mutant.gamma, mutant.steps)
        variation = result.total_variation.exact
        assert variation is not None
        assert variation == right if mutant.exact else abs(variation - right) < CLOSE
        if result.verdict is Verdict.DIFFERENT:
            assert mutant.named in result.resembles
        else:
            assert result.resembles == ()


def invisible(mutant: Mutant, gamma: int, steps: int) -> None:
    report = audited(mutant.adapter, gamma, steps)
    assert report.verdict is not Verdict.DIFFERENT
    for table, result in zip(tables(3, COUNT), report.tables, strict=True):
        assert expected(mutant, table, gamma, steps) == 0
        assert result.total_variation.exact is not None
        assert result.total_variation.exact < CLOSE
        assert result.resembles == ()
