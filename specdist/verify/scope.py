"""What a verdict does not say; printed with every one. And what was guessed on the way to it."""

from __future__ import annotations

from collections.abc import Collection

from specdist.model.capture import Capture
from specdist.model.cost import Basis
from specdist.model.numerics import read_numerics
from specdist.model.report import RoleUse, StepResult
from specdist.model.role import ONE_HOT_ROLES, Role
from specdist.model.settings import CheckSettings
from specdist.model.verdict import Verdict
from specdist.rules.any_rule import file_and_class
from specdist.rules.joint.names import is_joint
from specdist.rules.registry import read_rule

NOT_TIMED = "an equal law says nothing of speed; speed was not measured"
TIMED = "an equal law says nothing of speed; the times are those that the capture carries"
"""In its place where a step carries measured times."""
UNMEASURED = (
    "an equal law says nothing of speed; it is unmeasured, for the times of the capture do not "
    "name models, sampling, load and hardware"
)
"""In its place where times name their conditions in part only."""

SCOPE = (
    "equal laws do not promise the same text under a fixed seed, the same text in one run, "
    "or similar task scores",
    NOT_TIMED,
    "only the captured rows were checked: an offline check is not a test of a deployment",
)

AS_SPECIFIED = (
    "every role was filled as a correct engine fills it, and then the rule is lossless for any "
    "rows: say what the engine really does with --role, or with rows by role in the capture"
)
"""Added where no role says what an engine really did: the pass is then about the recipes alone."""

_TOLD = ("as told", "default")


def scope_of(bases: Collection[Basis], as_specified: bool) -> tuple[str, ...]:
    """The sentences of a run: by what its figures of speed rest on, and whether all roles were
    filled as a correct engine fills them. Of times with and without conditions the latter count."""
    timed = TIMED if Basis.MEASURED in bases else NOT_TIMED
    timed = UNMEASURED if Basis.UNMEASURED in bases else timed
    sentences = tuple(timed if text == NOT_TIMED else text for text in SCOPE)
    return (*sentences, AS_SPECIFIED) if as_specified else sentences


def fills_roles_as_specified(step: StepResult) -> bool:
    """Whether a step is equal for any rows: a lossless rule in real arithmetic that tests every
    draft token, on roles that are those of a correct engine by their recipes alone."""
    filled = [position.roles for position in step.positions]
    filled += [step.bonus.roles] if step.bonus is not None else []
    filled += [step.joint.roles] if step.joint is not None else []
    tested = all(position.proposal is None for position in step.positions)
    tested = tested and not {"keep", "length"} & set(step.options)
    return (
        step.verdict is Verdict.EQUAL
        and tested
        and read_numerics(step.options).ideal
        and _claims_losslessness(step.rule)
        and all(_as_specified(uses) for uses in filled)
    )


def _claims_losslessness(text: str) -> bool:
    if file_and_class(text) is not None:
        return False
    if is_joint(text):
        from specdist.rules.joint.registry import read_joint_rule

        joint, as_written = read_joint_rule(text)
        return joint.lossless(as_written)
    rule, use = read_rule(text)
    return rule.lossless(use)


def _as_specified(uses: tuple[RoleUse, ...]) -> bool:
    by_side: dict[str, set[str]] = {"target": set(), "draft": set()}
    roles = {role.value for role in ONE_HOT_ROLES}
    one_hot = {use.role for use in uses if use.recipe == "one-hot" and use.role in roles}
    for use in uses:
        tested_one_hot = one_hot == roles
        if use.role in one_hot or (tested_one_hot and use.role == Role.DRAFTED_FROM.value):
            continue
        by_side[use.side].add(use.recipe)
    complete = not one_hot or len(one_hot) == len(ONE_HOT_ROLES)
    return complete and all(len(kinds) <= 1 and "row" not in kinds for kinds in by_side.values())


def guesses(capture: Capture) -> str | None:
    """One line about what a reader decided by itself: kinds by the values, the stage by default."""
    facts = dict(capture.facts)
    named = [("target kind", "target"), ("draft kind", "draft"), ("stage", "stage")]
    found = [
        f"{label} {facts[key]}"
        for key, label in named
        if key in facts and not any(told in facts[key] for told in _TOLD)
    ]
    sides = ("target stage", "draft stage")
    found += [f"{key} {facts[key]}" for key in sides if "assumed" in facts.get(key, "")]
    return f"{capture.source}: {', '.join(found)}" if found else None


def in_force(settings: CheckSettings, first: StepResult) -> list[str]:
    """What was not written as it is applied: a preset's recipes by role, an assumed form of map."""
    lines = []
    if settings.draft_map is not None and settings.draft_map_assumed:
        lines.append("draft map: target ids (assumed; --draft-map-form offsets for offsets)")
    preset = settings.preset
    roles = [position.roles for position in first.positions]
    roles += [position.roles for position in first.bounded]
    if preset is None or not roles:
        return lines
    by_recipe: dict[str, list[str]] = {}
    for use in roles[0]:
        by_recipe.setdefault(use.recipe, []).append(use.role)
    lines.append(f"engine {preset.name}: {preset.title}, version {preset.version}")
    return lines + [f"{', '.join(roles)}: {recipe}" for recipe, roles in by_recipe.items()]
