"""One step of which some rows are known in part: each position exact where nothing is left open,
else in proven intervals."""

from __future__ import annotations

from dataclasses import dataclass, field

from specdist.errors import SettingsError
from specdist.exact.interval import Interval
from specdist.model.capture import Position, Step
from specdist.model.finding import Finding
from specdist.model.partial_report import BoundedBonus, BoundedPosition
from specdist.model.report import BonusResult, PositionResult, StepResult
from specdist.model.role import Role
from specdist.model.row import Row
from specdist.model.settings import CheckSettings
from specdist.model.verdict import Verdict
from specdist.verify.diagnosis import Causes
from specdist.verify.mismatch import BONUS
from specdist.verify.partial.bonus import bounded_bonus
from specdist.verify.partial.bounds import BoundedRule
from specdist.verify.partial.causes import cause_of
from specdist.verify.partial.findings import bonus_findings, mismatch_findings, truncated_finding
from specdist.verify.partial.laws import PartialLaws, partial_laws
from specdist.verify.partial.position import check_bounded
from specdist.verify.partial.sizes import with_one_size
from specdist.verify.plan import Plan
from specdist.verify.position_check import PositionCheck, row_context
from specdist.verify.position_laws import FilledRoles, filled_roles, role_fillings
from specdist.verify.step import (
    allowed,
    checked_bonus,
    checked_position,
    mean_acceptance_length,
    refuse_unused_bonus_role,
    worst,
)
from specdist.verify.undecided import remark_findings


@dataclass(slots=True)
class _Results:
    """What the positions of a step came to so far."""

    positions: list[PositionResult] = field(default_factory=list)
    bounded: list[BoundedPosition] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)
    bonus: BonusResult | None = None
    bounded_bonus: BoundedBonus | None = None

    @property
    def verdicts(self) -> list[Verdict]:
        parts = [*self.positions, *self.bounded, self.bonus, self.bounded_bonus]
        return [part.verdict for part in parts if part is not None]


def verify_partial_step(step: Step, plan: Plan, settings: CheckSettings) -> StepResult:
    """Every position of a step and its bonus row.

    Raises SettingsError for rules over proposals and for several drafts, which need whole rows, and
    RowError for rows that hold no distribution.
    """
    _refuse_whole_rows_only(step, plan, settings)
    step = with_one_size(step)
    results, causes = _Results(findings=list(step.findings)), Causes()
    for position in step.positions:
        _position(step, position, plan, settings, causes, results)
    if step.bonus is not None:
        _bonus(step, step.bonus, plan, settings, results)
    else:
        refuse_unused_bonus_role(step, plan)
    alone = len(step.positions) == len(results.bounded) == 1
    return StepResult(
        id=step.id,
        source=step.source,
        rule=plan.use.text,
        options=plan.model,
        verdict=worst(results.verdicts),
        positions=tuple(results.positions),
        mean_acceptance_length=mean_acceptance_length(results.positions, step),
        bonus=results.bonus,
        findings=tuple(allowed(results.findings, settings)),
        bounded=tuple(results.bounded),
        bounded_bonus=results.bounded_bonus,
        length_bounds=Interval.of(1) + results.bounded[0].acceptance_rate if alone else None,
    )


def _refuse_whole_rows_only(step: Step, plan: Plan, settings: CheckSettings) -> None:
    needs = None
    if plan.joint is not None:
        needs = f"rule {plan.use.text}"
    elif settings.tree is not None:
        needs = f"--tree {settings.tree.nodes}"
    elif settings.length is not None:
        needs = f"length {settings.length}"
    elif settings.symbolic:
        needs = "--symbolic"
    if needs is not None:
        raise SettingsError(
            f"{needs} needs whole rows, and this step has rows known in part",
            place=step.source,
            expected="every possible token listed",
            advice="dump whole rows, or rows after top-k or top-p with all that they keep",
        )


def _position(
    step: Step,
    position: Position,
    plan: Plan,
    settings: CheckSettings,
    causes: Causes,
    results: _Results,
) -> None:
    recipes, rows = role_fillings(position.roles, plan.recipes.recipes, settings.overrides.roles)
    context = row_context(step, position, position.index, plan, settings)
    found = filled_roles(position.target, position.draft, recipes, rows, context)
    if len(found.complete_laws) == len(found.processed):
        check = PositionCheck(step, position, plan, settings)
        exact, findings = checked_position(check, causes)
        results.positions.append(exact)
        results.findings += findings
        return
    laws = partial_laws(found, position.target.place)
    left_open = _left_open(position, plan, found)

    def ruled(others: PartialLaws) -> BoundedRule:
        return BoundedRule(plan.rule, plan.use, plan.numerics, others, left_open)

    check_of = check_bounded(position, ruled(laws), found, settings, step.vocab)
    results.bounded.append(check_of.result)
    results.findings += remark_findings(found.noted, position.index)
    if check_of.result.verdict is Verdict.DIFFERENT:
        cause = cause_of(check_of.rule, ruled)
        results.findings += mismatch_findings(check_of, cause, step.vocab)
    else:
        finding = truncated_finding(check_of, position.draft_token, step.vocab)
        results.findings.append(finding)


def _left_open(position: Position, plan: Plan, found: FilledRoles) -> str:
    """What keeps a position from being bounded, whatever the rule; "" if nothing does."""
    if plan.proposal_of(position) is not None:
        return "a keep rule has no bounds for rows that are known in part"
    if found.close_cuts:
        cut = found.close_cuts[0]
        return f"{cut.side}: {cut.message}"
    return ""


def _bonus(step: Step, row: Row, plan: Plan, settings: CheckSettings, results: _Results) -> None:
    own = {} if step.bonus_from is None else {Role.BONUS_FROM: step.bonus_from}
    recipes, rows = role_fillings(own, plan.recipes.recipes, settings.overrides.roles)
    context = row_context(step, None, len(step.positions), plan, settings)
    found = filled_roles(row, None, recipes, rows, context)
    if len(found.complete_laws) == len(found.processed):
        results.bonus, findings = checked_bonus(step, plan, settings)
        results.findings += findings
        return
    laws = partial_laws(found, row.place)
    bonus = bounded_bonus(laws, found, row, rows.values(), settings, step.vocab)
    results.bounded_bonus = bonus
    results.findings += [*remark_findings(found.noted, BONUS), *bonus_findings(bonus)]
