"""The line to paste that shows a joint finding again, for models small enough to type."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from specdist.model.capture import Step
from specdist.model.conditional import ConditionalRows, Models
from specdist.model.row import Kind, NumberFormat, RationalValues, Row, Stage
from specdist.model.settings import CheckSettings
from specdist.model.verdict import Verdict
from specdist.processing.recipe_layers import DEFAULT_RULE
from specdist.verify.joint.capture_members import step_members
from specdist.verify.joint.joint_setup import JointSetup
from specdist.verify.plan import Plan
from specdist.verify.reproduction import LONGEST_NUMBER, LONGEST_ROW, captured_line

_MOST_NUMBERS = 120


def reproduction(
    step: Step, setup: JointSetup, plan: Plan, settings: CheckSettings, verdict: Verdict
) -> str | None:
    """A command with the same rows and settings, or None where it would be long or incomplete."""
    if step.models is None:
        return None
    kind = kind_of([step], settings)
    if kind is None:
        return None
    members = step_members(step.models, setup)
    return captured_line(members, kind, line_options(setup, plan, settings, verdict))


def kind_of(steps: Sequence[Step], settings: CheckSettings) -> Kind | None:
    """The one kind of all rows of some steps, None where a line cannot hold them."""
    models = [step.models for step in steps if step.models is not None]
    if any(step.context is not None for step in steps) or settings.history is not None:
        return None
    rows = [row for each in models for table in _tables(each) for row in table.every_row]
    if not all(map(_short, rows)) or sum(row.size for row in rows) > _MOST_NUMBERS:
        return None
    kinds = {row.kind for row in rows}
    alike = len(kinds) == 1 and all(map(_raw, models)) and settings.draft_map is None
    return kinds.pop() if alike else None


def _tables(models: Models) -> list[ConditionalRows]:
    return [models.target, *models.drafts, *models.roles.values()]


def _short(row: Row) -> bool:
    if not isinstance(row.values, RationalValues) or row.size > LONGEST_ROW:
        return False
    exact = row.numbers is NumberFormat.DECIMAL or row.kind is not Kind.PROBABILITIES
    values = [value for value in row.values.values if value is not None]
    return exact and all(len(str(value)) <= LONGEST_NUMBER for value in values)


def _raw(models: Models) -> bool:
    own = [models.target, *models.drafts]
    return all(row.stage is Stage.RAW for table in own for row in table.every_row)


def line_options(
    setup: JointSetup, plan: Plan, settings: CheckSettings, verdict: Verdict
) -> list[str]:
    """Rule, recipes and model as options."""
    import shlex

    recipes = plan.recipes
    options = []
    if str(recipes.target) != "raw":
        options.append(f"--recipe {shlex.quote(str(recipes.target))}")
    if recipes.draft != recipes.target:
        options.append(f"--draft-recipe {shlex.quote(str(recipes.draft))}")
    for role, recipe in recipes.recipes.items():
        if role in recipes.given:
            options.append(f"--role {shlex.quote(f'{role.value}={recipe}')}")
    if setup.use.text != DEFAULT_RULE:
        options.append(f"--rule {shlex.quote(setup.use.text)}")
    options += [f"--{name} {shlex.quote(text)}" for name, text in _flags(plan.model).items()]
    options += ["--normalise"] if settings.normalise else []
    options += ["--unnormalised"] if "unnormalised" in plan.model else []
    options += [f"--horizon {settings.horizon}"] if settings.horizon is not None else []
    if verdict is Verdict.WITHIN_TOLERANCE:
        options.append(f"--max-tv {settings.max_tv}")
    return options


def _flags(model: Mapping[str, str]) -> dict[str, str]:
    return {name: text for name, text in model.items() if name != "unnormalised"}
