"""One place of the engine uses another recipe than declared: a step is missing, or made twice."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from specdist.model.role import DRAFT_ROLES, Role
from specdist.verify.replay.engine_model import EngineModel, Source
from specdist.verify.replay.faults.recipe_variants import variants

_AT, _RT, _BF = Role.ACCEPT_TARGET, Role.RESIDUAL_TARGET, Role.BONUS_FROM
_AD, _RD, _DF = Role.ACCEPT_DRAFT, Role.RESIDUAL_DRAFT, Role.DRAFTED_FROM

PLACES: tuple[tuple[tuple[Role, ...], str, str], ...] = (
    ((_AT,), "target-mismatch", "the accept test uses the target {}"),
    ((_RT,), "target-mismatch", "the residual starts from the target {}"),
    ((_BF,), "bonus-mismatch", "the bonus token is drawn from the target {}"),
    ((_AT, _RT), "lossless-for-another-target", "test and residual use the target {}"),
    ((_AT, _RT, _BF), "lossless-for-another-target", "verification uses the target {}"),
    ((_DF,), "drafted-mismatch", "draft tokens are drawn from the draft {}"),
    ((_AD,), "drafted-mismatch", "the accept test divides by the draft {}"),
    ((_RD,), "residual-mismatch", "the residual subtracts the draft {}"),
    ((_AD, _RD), "drafted-mismatch", "test and residual use the draft {}"),
    (
        (_DF, _AD, _RD),
        "drafted-mismatch",
        "draft tokens are drawn from, and tested by, the draft {}",
    ),
)
"""Roles that one mistake changes together, the ident of its finding, and how it is said."""


def role_faults(declared: EngineModel) -> Iterator[EngineModel]:
    """Every place of `PLACES` under every recipe near the declared one."""
    sides = {"target": Role.REFERENCE, "draft": Role.DRAFTED_FROM}
    for roles, ident, words in PLACES:
        if any(role in declared.one_hot for role in roles):
            continue
        side = "draft" if roles[0] in DRAFT_ROLES else "target"
        own = declared.sources[roles[0]].recipe
        other = declared.sources[sides["target" if side == "draft" else "draft"]].recipe
        for text, recipe in variants(own, other):
            changed = {role: Source(side, recipe) for role in roles}
            name = "+".join(role.value for role in roles) + ": " + text
            model = replace(declared, name=name, ident=ident, statement=words.format(text), rank=1)
            yield model.with_sources(changed)
