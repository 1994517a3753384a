"""Captured rows of one position as conditional models, for rules that take several drafts there."""

from __future__ import annotations

from dataclasses import replace

from specdist.errors import SettingsError
from specdist.model.capture import Step
from specdist.model.conditional import ConditionalRows, Models
from specdist.model.draft_tree import DraftTree
from specdist.model.settings import CheckSettings
from specdist.verify.plan import Plan
from specdist.verify.position_laws import role_fillings

FIRST_ONLY = "only the first token is compared: no rows behind it were captured"


def one_position(
    step: Step, plan: Plan, settings: CheckSettings
) -> tuple[Step, Plan, CheckSettings]:
    """The step as models whose rows behind the first token are never compared, with its plan.

    Raises SettingsError for a proposal that is deeper than one token, and for what models do not
    know: keep probabilities and a map of ids by row.
    """
    (position,) = step.positions
    tree = settings.tree or DraftTree.chain(1)
    if tree.depth != 1 or (settings.horizon or 1) != 1:
        raise SettingsError(
            f"the proposal is {tree.shape}, and the step has the rows of one position",
            place=step.source,
            expected="--tree N for N drafts at this position",
            advice="deeper proposals need models: rows by prefix (specdist explain capture)",
        )
    if position.keep is not None or position.given or position.draft_map is not None:
        raise SettingsError(
            f"rule {plan.use.text} with keep, accept, recovery or draft_map rows by token",
            place=step.source,
            expected="target, draft and role rows",
        )
    recipes, rows = role_fillings(position.roles, plan.recipes.recipes, settings.overrides.roles)
    tables = {role: ConditionalRows(row.place, default=row) for role, row in rows.items()}
    target = ConditionalRows(position.target.place, default=position.target)
    draft = ConditionalRows(position.draft.place, default=position.draft)
    models = Models(target, (draft,), tables)
    changed = replace(plan, recipes=replace(plan.recipes, recipes=recipes))
    as_models = replace(step, positions=(), bonus=None, models=models, tree=tree)
    return as_models, changed, replace(settings, horizon=1)
