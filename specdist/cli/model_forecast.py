"""What ``inspect`` says would be enumerated for steps over conditional models."""

from __future__ import annotations

from specdist.errors import SpecdistError
from specdist.model.capture import Step
from specdist.model.settings import CheckSettings


def first_step_text(step: Step) -> str:
    """What is drafted in a step: positions, a proposal over models, or requests of a batch."""
    from specdist.reports.view import plural

    if step.requests:
        return f"{step.id}: a batch of {plural(len(step.requests), 'request')}"
    if step.models is not None:
        return f"{step.id}: {'no shape' if step.tree is None else step.tree.shape}"
    bonus = ", bonus row last" if step.bonus is not None else ""
    return f"{step.id}: {plural(len(step.positions), 'draft token')}{bonus}"


def proposals_of(step: Step) -> list[tuple[str, str]]:
    """How many proposals of positive probability there are, as the capture stands."""
    from specdist.rules.joint.draws import proposal_count
    from specdist.verify.joint.prefix_laws import ModelLaws
    from specdist.verify.plan import Plans
    from specdist.verify.proposal_shape import proposal_tree

    if step.models is None or step.tree is None:
        return []
    settings = CheckSettings()
    try:
        tree = proposal_tree(step, settings)
        laws = ModelLaws(step, step.models, tree, Plans(settings).of(step), settings)
        return [("proposals", f"{proposal_count(tree, laws):,}")]
    except SpecdistError as error:
        return [("proposals", f"not counted: {error}")]
