"""The accept test itself is skipped, or all positions of a step share one uniform."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from specdist.verify.replay.engine_model import EngineModel, Test

_TESTS = (
    (Test.ALWAYS, "rule-mismatch", "every draft token is accepted"),
    (Test.FIRST_UNCHECKED, "rule-mismatch", "the first draft token of a step is never tested"),
    (Test.ONE_UNIFORM, "reused-randomness", "one uniform decides all positions of a step"),
)


def accept_faults(declared: EngineModel) -> Iterator[EngineModel]:
    """Every test but the declared one."""
    for test, ident, statement in _TESTS:
        yield replace(
            declared, name=test.value, ident=ident, statement=statement, test=test, rank=1
        )
