"""What more draft tokens at one position could reach: ``--tree N`` on captured rows."""

from __future__ import annotations

from dataclasses import replace

from specdist.errors import SettingsError
from specdist.model.capture import Step
from specdist.model.report import PositionResult, SeveralDrafts
from specdist.model.role import Role
from specdist.model.settings import CheckSettings
from specdist.verify.position_laws import PositionLaws

DRAFT_TOKENS_THERE = (
    "draft_tokens in the capture, one id a draft row: a list in a JSON step, an integer tensor "
    "beside the rows in .npz, .safetensors or .pt"
)


def check_shape(step: Step, settings: CheckSettings) -> None:
    """Raises SettingsError for a proposal that rows of single positions cannot have, and for
    options that would say nothing about them."""
    tree = settings.tree
    if settings.draft_tokens is not None:
        raise SettingsError(
            "--draft-tokens shapes a proposal over models, and this step has captured rows",
            place=step.source,
            expected=DRAFT_TOKENS_THERE,
        )
    if settings.siblings is not None and tree is None:
        raise SettingsError(
            f"--siblings {settings.siblings} is about several drafts, and one is drawn here",
            place=step.source,
            expected="--tree N for N drafts at each position, or a step with models",
        )
    if tree is not None and tree.depth != 1:
        raise SettingsError(
            f"the proposal is {tree.shape}, and the step has rows of single positions",
            place=step.source,
            expected="--tree N for N drafts at each position, or a step with models",
            advice="models are rows by prefix: specdist explain models",
        )


def with_several_drafts(
    result: PositionResult, found: PositionLaws, settings: CheckSettings
) -> PositionResult:
    """The result with the optimum of the number of drafts that the settings ask for, if any."""
    if settings.tree is None:
        return result
    from specdist.verify.joint.optimum import drafts_optimum

    siblings = settings.siblings or settings.tree.siblings
    target, draft = found.laws[Role.REFERENCE], found.laws[Role.DRAFTED_FROM]
    best = drafts_optimum(target, draft, settings.tree.nodes, siblings)
    return replace(result, several=SeveralDrafts(settings.tree.nodes, siblings, best))
