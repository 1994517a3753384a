"""The smallest case that shows a difference."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from specdist.audit.context import Setup
from specdist.audit.measure import Measured
from specdist.audit.refusals import AuditError
from specdist.audit.tables import Table, tables
from specdist.model.audit_report import Smallest, TableResult
from specdist.model.figure import Figure
from specdist.model.verdict import Verdict

Judge = Callable[[Setup, Table], TableResult]
"""Measures one case and says what it shows."""


def smaller(setup: Setup, count: int) -> Iterator[tuple[Setup, Table]]:
    """Every smaller case: fewer steps first, then fewer draft tokens, then fewer tokens."""
    for steps in range(1, setup.steps + 1):
        for gamma in range(1, setup.gamma + 1):
            for vocab in range(2, setup.vocab + 1):
                size = replace(setup, vocab=vocab, gamma=gamma, steps=steps)
                if size != setup:
                    yield from ((size, table) for table in tables(vocab, count))


def smallest(
    cases: Iterator[tuple[Setup, Table]], judge: Judge, known: Smallest | None
) -> Smallest | None:
    """The first of the cases that differs, else the one that is known to."""
    for setup, table in cases:
        try:
            result = judge(setup, table)
        except AuditError:  # another size may not suit the adapter
            continue
        if result.verdict is Verdict.DIFFERENT:
            return as_smallest(setup, table, result)
    return known


def first_known(
    setup: Setup, walked: Sequence[tuple[Table, Measured, TableResult]]
) -> Smallest | None:
    """The first of the tables of the audit itself that differs."""
    for table, _, result in walked:
        if result.verdict is Verdict.DIFFERENT:
            return as_smallest(setup, table, result)
    return None


def as_smallest(setup: Setup, table: Table, result: TableResult) -> Smallest:
    """A case as the report gives it, with the first rows of its table."""
    rows = (table.target(()), table.draft(()))
    target, drafted = (tuple(map(Figure.of, row)) for row in rows)
    return Smallest(
        setup.vocab, setup.gamma, setup.steps, table.name, target, drafted, result.total_variation
    )
