"""Every known way of working that a trace is held against, simplest first."""

from __future__ import annotations

from specdist.verify.replay.engine_model import EngineModel
from specdist.verify.replay.faults.accept_faults import accept_faults
from specdist.verify.replay.faults.arithmetic_faults import arithmetic_faults
from specdist.verify.replay.faults.pruning_faults import pruning_faults
from specdist.verify.replay.faults.recovery_faults import recovery_faults
from specdist.verify.replay.faults.role_faults import role_faults
from specdist.verify.replay.faults.row_faults import row_faults
from specdist.verify.replay.survey import Survey


def known_faults(base: EngineModel, survey: Survey) -> tuple[EngineModel, ...]:
    """The models of all families, each a change of ``base``."""
    return (
        *recovery_faults(base),
        *accept_faults(base),
        *row_faults(base),
        *role_faults(base),
        *arithmetic_faults(base),
        *pruning_faults(base, survey),
    )
