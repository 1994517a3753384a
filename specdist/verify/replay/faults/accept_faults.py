"""The accept test is skipped, treats the draft as one-hot, or shares its uniform."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from specdist.model.role import ONE_HOT_ROLES, Role
from specdist.verify.replay.engine_model import EngineModel, Reuse, Test

_TESTS = (
    (Test.ALWAYS, "every draft token is accepted"),
    (Test.FIRST_UNCHECKED, "the first draft token of a step is never tested"),
)
_REUSES = (
    (Reuse.ACCEPTS, "one uniform decides all positions of a step"),
    (Reuse.DRAFT_ACCEPT, "a token is tested with the uniform that it was drawn with"),
    (Reuse.ACCEPT_FINAL, "the final token is drawn with the uniform of the last test"),
    (Reuse.DRAFT_FINAL, "the final token is drawn with the uniform of the token it replaces"),
)


def accept_faults(declared: EngineModel) -> Iterator[EngineModel]:
    """Every other test, and every reuse of a uniform."""
    for test, statement in _TESTS:
        changed = replace(declared, name=test.value, statement=statement, test=test, rank=1)
        yield replace(changed, ident="rule-mismatch")
    for reuse, statement in _REUSES:
        changed = replace(declared, name=reuse.value, statement=statement, reuse=reuse, rank=1)
        yield replace(changed, ident="reused-randomness")
    yield from _one_hot_tests(declared)


def _one_hot_tests(declared: EngineModel) -> Iterator[EngineModel]:
    """The test takes the drafted token for certain where a law was drafted from, or the reverse."""
    drafted = declared.sources[Role.DRAFTED_FROM]
    for roles, words in (
        ((Role.ACCEPT_DRAFT,), "the accept test"),
        (ONE_HOT_ROLES, "test and residual"),
    ):
        if not any(role in declared.one_hot for role in roles):
            yield replace(
                declared,
                name=f"{words}: one-hot draft",
                ident="drafted-mismatch",
                statement=f"{words} treat the draft as one-hot at the drafted token",
                one_hot=declared.one_hot.union(roles),
                rank=1,
            )
        elif all(role in declared.one_hot for role in roles):
            changed = declared.with_sources(dict.fromkeys(roles, drafted))
            yield replace(
                changed,
                name=f"{words}: draft law",
                ident="drafted-mismatch",
                statement=f"{words} use the draft law, not the drafted token",
                rank=1,
            )
