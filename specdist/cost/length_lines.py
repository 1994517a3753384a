"""The cost lines of a best draft length."""

from __future__ import annotations

from specdist.cost.draft_length import BestLength
from specdist.cost.wording import NOT_MEASURED, brief
from specdist.model.figure import Figure
from specdist.model.joint_report import CostLine


def length_lines(best: BestLength, looked_at: int, where: str, assumes: str) -> list[CostLine]:
    """The draft length with its factor; without a number where the factor still rises at the last
    length that was ``looked_at``. ``where`` begins the names, such as ``batch 8: ``."""
    name = f"{where}best draft length"
    if not best.settled:
        text = f"none up to {looked_at}, where the factor {brief(best.factor)} still rises"
        return [CostLine(name, None, f"{text}, {NOT_MEASURED}", assumes)]
    if not best.length:
        text = "decode without a draft: no walltime factor is above 1"
        return [CostLine(name, Figure.of(0), f"{text}, {NOT_MEASURED}", assumes)]
    return [
        CostLine(name, Figure.of(best.length), "", assumes),
        CostLine(f"{where}its walltime factor", Figure.of(best.factor), NOT_MEASURED, assumes),
    ]
