"""Rows of which a capture does not say what they have been through: every reading is checked.

Processing is not idempotent: a temperature that is applied to rows which it went through already
gives another law. A row of stage unknown is read as raw, as scaled by its temperature, and as
processed. Where the readings differ in a figure the verdict is `undecided`, and the finding
`configuration-needed` says what each comes to.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from specdist.model.capture import Position, Step
from specdist.model.finding import Finding, Severity
from specdist.model.recipe import Recipe, RecipeStep
from specdist.model.report import StepResult
from specdist.model.role import TARGET_ROLES, Role
from specdist.model.row import Row, Stage
from specdist.model.settings import CheckSettings
from specdist.model.verdict import Verdict
from specdist.processing import processor_named, role_recipe
from specdist.verify.comparison import probability
from specdist.verify.plan import Plan
from specdist.verify.reference_distance import between_references
from specdist.verify.step import allowed
from specdist.verify.wording import figure, interval

Verify = Callable[[Step, Plan, CheckSettings], StepResult]


@dataclass(frozen=True, slots=True)
class _Reading:
    """One way to read the rows: the step, the plan of its recipes, and what they come to."""

    name: str
    step: Step
    plan: Plan
    result: StepResult


def verify_readings(step: Step, plan: Plan, settings: CheckSettings, verify: Verify) -> StepResult:
    """The step with its rows read as raw; undecided where another reading of them differs."""
    sides, readings = _sides(step), list[_Reading]()
    plain = _with_stage(step, Stage.RAW)
    for name, removes in _READINGS.items():
        made = _filtered(plain, plan, sides, removes)
        if all(made != (other.step, other.plan) for other in readings):
            readings.append(_Reading(name, *made, verify(*made, settings)))
    first, *others = readings
    if all(_figures(first.result) == _figures(other.result) for other in others):
        return first.result
    finding = allowed([_finding(readings, settings)], settings)
    return replace(_undecided(first.result), findings=(*first.result.findings, *finding))


def _finding(readings: Sequence[_Reading], settings: CheckSettings) -> Finding:
    first, up_to = readings[0], " up to" if len(readings) > 2 else ""
    apart = max(
        between_references(first.step, position, (first.plan, settings), at, (other.plan, settings))
        for other in readings[1:]
        for position, at in zip(first.step.positions, other.step.positions, strict=True)
    )
    names = " or ".join(f"--stage {reading.name}" for reading in readings)
    index = first.step.positions[0].index
    return Finding(
        "configuration-needed",
        Severity.WARNING,
        "it is not stated what the rows have been through, and the recipe would process them",
        notes=(
            *(f"read as {r.name}: {_rate(index, r)}" for r in readings),
            f"the references of these readings differ by total variation{up_to} "
            f"{figure(probability(*apart))}",
            f"the figures are those of rows read as {first.name}; say which it is: {names}",
        ),
    )


def _undecided(result: StepResult) -> StepResult:
    """The result of one reading, none of whose verdicts stands."""
    bonus = result.bonus
    return replace(
        result,
        verdict=Verdict.UNDECIDED,
        positions=tuple(replace(p, verdict=Verdict.UNDECIDED) for p in result.positions),
        bounded=tuple(replace(p, verdict=Verdict.UNDECIDED) for p in result.bounded),
        bonus=None if bonus is None else replace(bonus, verdict=Verdict.UNDECIDED),
    )


def _sides(step: Step) -> set[str]:
    """The sides that have rows of unknown stage."""
    found = {
        side
        for position in step.positions
        for side, row in (("target", position.target), ("draft", position.draft))
        if row.stage is Stage.UNKNOWN
    }
    bonus = step.bonus is not None and step.bonus.stage is Stage.UNKNOWN
    return found | ({"target"} if bonus else set())


def _with_stage(step: Step, stage: Stage) -> Step:
    """The step with its rows of unknown stage at another one."""

    def told(row: Row) -> Row:
        return replace(row, stage=stage) if row.stage is Stage.UNKNOWN else row

    positions = tuple(
        replace(position, target=told(position.target), draft=told(position.draft))
        for position in step.positions
    )
    return replace(
        step, positions=positions, bonus=None if step.bonus is None else told(step.bonus)
    )


Removes = Callable[[RecipeStep], bool]
_READINGS: Mapping[str, Removes] = {
    "raw": lambda step: False,
    "processed": lambda step: not processor_named(step.name).any_stage,
    "temperature": lambda step: step.name == "temperature",
}
"""What a recipe no longer does to a row of that stage."""


def _filtered(step: Step, plan: Plan, sides: set[str], removes: Removes) -> tuple[Step, Plan]:
    """Step and plan where the recipes of some sides leave out steps."""
    recipes = plan.recipes
    kept = {
        role: _without(recipe, removes) if _side(role) in sides else recipe
        for role, recipe in recipes.recipes.items()
    }
    positions = tuple(
        replace(position, roles=_roles(position, sides, removes)) for position in step.positions
    )
    made = replace(
        recipes,
        recipes=kept,
        target=_without(recipes.target, removes) if "target" in sides else recipes.target,
        draft=_without(recipes.draft, removes) if "draft" in sides else recipes.draft,
    )
    return replace(step, positions=positions), replace(plan, recipes=made)


def _roles(position: Position, sides: set[str], removes: Removes) -> dict[Role, str | Row]:
    return {
        role: str(_without(role_recipe(role.value, entry), removes))
        if isinstance(entry, str) and _side(role) in sides
        else entry
        for role, entry in position.roles.items()
    }


def _without(recipe: Recipe, removes: Removes) -> Recipe:
    if not any(removes(step) for step in recipe.steps):
        return recipe
    return replace(recipe, steps=tuple(step for step in recipe.steps if not removes(step)))


def _side(role: Role) -> str:
    return "target" if role in TARGET_ROLES else "draft"


def _figures(result: StepResult) -> list[object]:
    """What a reading comes to, recipes aside."""
    found: list[object] = [result.verdict]
    for position in result.positions:
        found += [position.acceptance_rate, position.total_variation, position.tokens]
    for part in result.bounded:
        found += [part.acceptance_rate, part.total_variation, part.tokens]
    found += [result.bonus.tokens] if result.bonus else []
    return found


def _rate(index: int, reading: _Reading) -> str:
    """The verdict of a reading, and the acceptance rate at a position."""
    result = reading.result
    rates = [figure(p.acceptance_rate) for p in result.positions if p.index == index]
    rates += [interval(p.acceptance_rate) for p in result.bounded if p.index == index]
    return ", acceptance rate ".join([result.verdict.value, *rates])
