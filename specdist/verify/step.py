"""One step: settings in layers, every position, the bonus row, findings, verdict."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from specdist.errors import SettingsError
from specdist.model.capture import Step
from specdist.model.figure import Figure
from specdist.model.finding import Finding, Severity
from specdist.model.report import BonusResult, PositionResult, StepResult
from specdist.model.role import Role
from specdist.model.settings import CheckSettings
from specdist.model.verdict import Verdict
from specdist.verify.diagnosis import Causes
from specdist.verify.explanation import SHRUNK_POSITIONS, SHRUNK_STEPS, explained
from specdist.verify.mismatch import BONUS, bonus_findings
from specdist.verify.partial.detection import has_unknown_stage, is_known_in_part
from specdist.verify.plan import Plan, Plans
from specdist.verify.position import check_bonus
from specdist.verify.position_check import PositionCheck, row_context
from specdist.verify.position_laws import position_laws, role_fillings
from specdist.verify.reproduction import bonus_line
from specdist.verify.several_drafts import check_shape, with_several_drafts
from specdist.verify.undecided import (
    remarks,
    unassigned_finding,
    undecided_finding,
    zero_draft_finding,
)

if TYPE_CHECKING:
    from specdist.verify.joint.captured_block import BlockPath

_WORST_FIRST = (
    Verdict.DIFFERENT,
    Verdict.UNDECIDED,
    Verdict.WITHIN_TOLERANCE,
    Verdict.EQUAL,
)


def verify_step(step: Step, settings: CheckSettings, known: Plans | None = None) -> StepResult:
    """Every position of a step and its bonus row, as one result.

    ``known`` carries plans over from step to step. Raises SpecdistError for rows that hold no
    distribution and for settings that do not fit.
    """
    plan = (known or Plans(settings)).of(step)
    if step.requests:
        from specdist.verify.joint.batch import verify_batch_step

        return verify_batch_step(step, plan, settings)
    if step.models is not None:
        from specdist.verify.joint.step import verify_joint_step

        return verify_joint_step(step, plan, settings)
    if has_unknown_stage(step):
        from specdist.verify.stage_readings import verify_readings

        return verify_readings(step, plan, settings, _verify_by_rows)
    return _verify_by_rows(step, plan, settings)


def _verify_by_rows(step: Step, plan: Plan, settings: CheckSettings) -> StepResult:
    """A step with rows of positions, whole or known in part."""
    if is_known_in_part(step):
        from specdist.verify.partial.step import verify_partial_step

        return verify_partial_step(step, plan, settings)
    if plan.takes_one_position(step):
        from specdist.verify.joint.step import verify_one_position

        return verify_one_position(step, plan, settings)
    return _verify_rows(step, plan, settings)


def _verify_rows(step: Step, plan: Plan, settings: CheckSettings) -> StepResult:
    """A step with rows along one path."""
    if settings.length is not None:
        raise SettingsError(
            f"length {settings.length} is about drafted blocks, and this step has single positions",
            place=step.source,
            expected="a step with models: rows by prefix; --keep RULE drops at one position",
        )
    check_shape(step, settings)
    block = None if plan.joint is None else _block_path(step, plan)
    results, findings = _positions(step, plan, settings, block)
    bonus = None
    if step.bonus is not None:
        bonus, more = checked_bonus(step, plan, settings)
        findings += more
    else:
        refuse_unused_bonus_role(step, plan)
    verdicts = [result.verdict for result in results] + ([bonus.verdict] if bonus else [])
    return StepResult(
        id=step.id,
        source=step.source,
        rule=plan.use.text,
        options=plan.model,
        verdict=worst(verdicts),
        positions=tuple(results),
        mean_acceptance_length=mean_acceptance_length(results, step),
        bonus=bonus,
        findings=tuple(allowed(findings, settings)),
        path=None if block is None else block.result,
    )


def refuse_unused_bonus_role(step: Step, plan: Plan) -> None:
    """Raises SettingsError where `bonus_from` is given, and the step has no bonus row."""
    recipes = plan.recipes
    if Role.BONUS_FROM in recipes.given and recipes.recipes[Role.BONUS_FROM] != recipes.target:
        raise SettingsError(
            "role bonus_from is given, and the step has no bonus row to try it on",
            place=step.source,
            expected="a step with a bonus row",
            advice="blocks of dumps need --draft-lengths; a JSON step needs a bonus row",
        )


def _block_path(step: Step, plan: Plan) -> BlockPath:
    from specdist.verify.joint.captured_block import BlockPath

    return BlockPath(step, plan)


def worst(verdicts: Sequence[Verdict]) -> Verdict:
    """The verdict of several: different, undecided, within-tolerance, equal, in that order."""
    for verdict in _WORST_FIRST:
        if verdict in verdicts:
            return verdict
    return Verdict.NOTHING_CHECKED


def _positions(
    step: Step, plan: Plan, settings: CheckSettings, block: BlockPath | None
) -> tuple[list[PositionResult], list[Finding]]:
    """Every position in turn; under rule block each with the weight of the path before it."""
    results: list[PositionResult] = []
    findings: list[Finding] = list(step.findings)
    causes = Causes()
    for position in step.positions:
        here = plan if block is None else block.plan_here()
        check = PositionCheck(step, position, here, settings)
        result, more = checked_position(check, causes)
        if block is not None:
            result, left_open = block.passed(check, result)
            more += left_open
        results.append(with_several_drafts(result, check.found, settings))
        findings += more
    return results, findings


def checked_position(check: PositionCheck, causes: Causes) -> tuple[PositionResult, list[Finding]]:
    """A position with rows that are known as a whole, and what is said of it."""
    check.run()
    verdict, index = check.checked.result.verdict, check.position.index
    findings = remarks(check.found, index) + _unread_rows(check)
    if check.open_law is not None:
        findings.append(check.open_law)
    elif open_question := _open_question(check):
        findings.append(open_question)
    if verdict not in (Verdict.DIFFERENT, Verdict.WITHIN_TOLERANCE):
        return check.checked.result, findings
    shrink = causes.diagnosed < SHRUNK_POSITIONS and check.step.ordinal < SHRUNK_STEPS
    result, more = explained(check, causes, shrink)
    return result, findings + more


def _open_question(check: PositionCheck) -> Finding | None:
    checked, index = check.checked, check.position.index
    if checked.comparison.unassigned and not checked.outcomes.raises:
        return unassigned_finding(index, checked)
    if checked.other_reading is not None:
        return zero_draft_finding(index, checked)
    if checked.result.verdict is not Verdict.UNDECIDED:
        return None
    return undecided_finding(index, checked.result.total_variation, check.found.close_cuts)


def _unread_rows(check: PositionCheck) -> list[Finding]:
    """Says that the rule was told to leave captured acceptance and recovery aside."""
    given, plan = check.position.given, check.plan
    if not given or plan.rule.kind == "observed":
        return []
    message = f"captured {' and '.join(given)}: not used, rule {plan.use.text} has its own"
    return [Finding("configuration-needed", Severity.NOTE, message, check.position.index)]


def checked_bonus(
    step: Step, plan: Plan, settings: CheckSettings
) -> tuple[BonusResult, list[Finding]]:
    """The bonus row of a step, known as a whole, and what is said of it."""
    if step.bonus is None:
        raise ValueError("the step has no bonus row")
    context = row_context(step, None, len(step.positions), plan, settings)
    own = {} if step.bonus_from is None else {Role.BONUS_FROM: step.bonus_from}
    by_role, rows = role_fillings(own, plan.recipes.recipes, settings.overrides.roles)
    found = position_laws(step.bonus, None, by_role, rows, context)
    bonus = check_bonus(found, settings, step.vocab)
    if found.close_cuts and not found.one_law_a_side:
        bonus = replace(bonus, verdict=Verdict.UNDECIDED)
    findings = remarks(found, BONUS)
    if bonus.verdict in (Verdict.DIFFERENT, Verdict.WITHIN_TOLERANCE):
        tolerated = bonus.verdict is Verdict.WITHIN_TOLERANCE
        own_row = rows.get(Role.BONUS_FROM)
        line = bonus_line(step.bonus, found.uses, own_row, settings, tolerated)
        findings += bonus_findings(bonus, found, step, line)
    elif bonus.verdict is Verdict.UNDECIDED:
        findings.append(undecided_finding(BONUS, bonus.total_variation, found.close_cuts))
    return bonus, findings


def mean_acceptance_length(results: Sequence[PositionResult], step: Step) -> Figure | None:
    """1 + acceptance for one position; rows along one path do not determine it for more."""
    if len(step.positions) != 1 or not results:
        return None
    rate = results[0].acceptance_rate
    if rate.exact is None:
        return None
    return Figure.of(1 + rate.exact, rate.bound)


def allowed(findings: Sequence[Finding], settings: CheckSettings) -> list[Finding]:
    """The findings, with those marked that the run allows."""
    return [
        replace(finding, allowed=True) if finding.ident in settings.allow else finding
        for finding in findings
    ]
