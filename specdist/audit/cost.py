"""How many leaves an audit is going to have, before it runs."""

from __future__ import annotations

from collections.abc import Iterable

from specdist.audit.context import Setup
from specdist.audit.tables import Table


def predicted(setup: Setup, tables: Iterable[Table]) -> int:
    """Leaves of all tables, for a step that draws its drafts first and tests them one by one.

    ``V^(g+1) + g V- V+ V^(g-1)`` a step, with V tokens, g draft tokens, V- tokens whose target
    mass is below their draft mass and V+ those above; steps multiply. A test of all uniforms at
    once has up to 2^(g-1) times as many.
    """
    return sum(_of_step(setup, table) ** setup.steps for table in tables)


def _of_step(setup: Setup, table: Table) -> int:
    vocab, gamma = setup.vocab, setup.gamma
    pairs = list(zip(table.target(()), table.draft(()), strict=True))
    below = sum(target < draft for target, draft in pairs)
    above = sum(target > draft for target, draft in pairs)
    tests: int = gamma * below * above * vocab ** max(gamma - 1, 0)
    total: int = vocab ** (gamma + 1) + tests
    return total
