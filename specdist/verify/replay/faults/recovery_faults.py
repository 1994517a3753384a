"""The recovered token follows another law than the residual, or test and residual are turned."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from specdist.model.role import Role
from specdist.verify.replay.engine_model import EngineModel

_RECOVERIES = {
    "target": "after a rejection the token is drawn from the target, not from the residual",
    "argmax": "after a rejection the likeliest token of the target is taken",
    "softmax": "after a rejection the token is drawn from the softmax of the residual",
}


def recovery_faults(declared: EngineModel) -> Iterator[EngineModel]:
    """Other recoveries, and target and draft exchanged in the test, in the residual or in both."""
    for recovery, statement in _RECOVERIES.items():
        if recovery != declared.recovery:
            yield replace(
                declared,
                name=f"recovered from {recovery}",
                ident="residual-mismatch",
                statement=statement,
                recovery=recovery,
                rank=1,
            )
    yield from _one_hot(declared)
    if not declared.one_hot:
        yield from _exchanged(declared)


def _one_hot(declared: EngineModel) -> Iterator[EngineModel]:
    if Role.RESIDUAL_DRAFT in declared.one_hot:
        source = declared.sources[Role.DRAFTED_FROM]
        model = replace(
            declared,
            name="residual of the drafted law",
            ident="residual-mismatch",
            statement="the residual subtracts the law that was drafted from, not the drafted token",
            rank=1,
        )
        yield model.with_sources({Role.RESIDUAL_DRAFT: source})
    else:
        yield replace(
            declared,
            name="target without the rejected token",
            ident="residual-mismatch",
            statement="after a rejection the token is drawn from the target without that one",
            one_hot=declared.one_hot | {Role.RESIDUAL_DRAFT},
            rank=1,
        )


def _exchanged(declared: EngineModel) -> Iterator[EngineModel]:
    sources = declared.sources
    test = {
        Role.ACCEPT_TARGET: sources[Role.ACCEPT_DRAFT],
        Role.ACCEPT_DRAFT: sources[Role.ACCEPT_TARGET],
    }
    residual = {
        Role.RESIDUAL_TARGET: sources[Role.RESIDUAL_DRAFT],
        Role.RESIDUAL_DRAFT: sources[Role.RESIDUAL_TARGET],
    }
    from_draft = replace(declared, recovery="target").with_sources(
        {Role.RESIDUAL_TARGET: sources[Role.RESIDUAL_DRAFT]}
    )
    words = "target and draft are exchanged in the "
    for name, ident, statement, model in (
        ("ratio upside down", "rule-mismatch", words + "ratio", declared.with_sources(test)),
        (
            "residual upside down",
            "residual-mismatch",
            words + "residual",
            declared.with_sources(residual),
        ),
        (
            "ratio and residual upside down",
            "rule-mismatch",
            words + "ratio and in the residual",
            declared.with_sources({**test, **residual}),
        ),
        (
            "recovered from the draft",
            "residual-mismatch",
            "after a rejection the token is drawn from the draft",
            from_draft,
        ),
    ):
        yield replace(model, name=name, ident=ident, statement=statement, rank=1)
