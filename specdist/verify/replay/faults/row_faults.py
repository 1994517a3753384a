"""Rows of another position: a role reads the row before, or after, its own."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from specdist.model.role import Role
from specdist.verify.replay.engine_model import EngineModel

_AT, _RT, _BF = Role.ACCEPT_TARGET, Role.RESIDUAL_TARGET, Role.BONUS_FROM
_AD, _RD, _DF = Role.ACCEPT_DRAFT, Role.RESIDUAL_DRAFT, Role.DRAFTED_FROM

PLACES: tuple[tuple[tuple[Role, ...], str], ...] = (
    ((_AT, _RT, _BF), "test, residual and bonus read the target row"),
    ((_AT, _RT), "test and residual read the target row"),
    ((_AT,), "the accept test reads the target row"),
    ((_RT,), "the residual starts from the target row"),
    ((_BF,), "the bonus token is drawn from the target row"),
    ((_RT, _RD), "the residual is that of the row"),
    ((_AD, _RD), "test and residual read the draft row"),
    ((_AD,), "the accept test reads the draft row"),
    ((_RD,), "the residual subtracts the draft row"),
    ((_DF, _AD, _RD), "drawing and testing a draft token reads the draft row"),
)


def row_faults(declared: EngineModel) -> Iterator[EngineModel]:
    """Every place of `PLACES` one row late and one row early."""
    for roles, words in PLACES:
        if any(role in declared.one_hot for role in roles):
            continue
        for shift, where in ((-1, "max(i - 1, 0)"), (1, "i + 1")):
            if shift > 0 and roles == (_BF,):
                continue  # there is no row behind the bonus row
            late = "late" if shift < 0 else "early"
            changed = {role: replace(declared.sources[role], shift=shift) for role in roles}
            model = replace(
                declared,
                name="+".join(role.value for role in roles) + f": one row {late}",
                ident="bonus-mismatch" if roles == (_BF,) else "shifted-rows",
                statement=f"at position i {words} {where}",
                rank=1,
            )
            yield model.with_sources(changed)
