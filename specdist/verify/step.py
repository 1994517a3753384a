"""One step: settings in layers, every position, the bonus row, findings, verdict."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from specdist.errors import SettingsError
from specdist.model.capture import Position, Step
from specdist.model.figure import Figure
from specdist.model.finding import Finding
from specdist.model.proposal import Proposal
from specdist.model.recipe import Recipe
from specdist.model.report import BonusResult, PositionResult, StepResult
from specdist.model.role import Role
from specdist.model.settings import CheckSettings
from specdist.model.verdict import Verdict
from specdist.processing import RowContext, TokenHistory
from specdist.verify import mismatch
from specdist.verify.close_cuts import settled
from specdist.verify.closed_form import with_closed_forms
from specdist.verify.greedy_cut_off import open_cut_off
from specdist.verify.plan import Plan, Plans
from specdist.verify.position import Checked, check_bonus, check_position
from specdist.verify.position_laws import PositionLaws, position_laws, role_fillings
from specdist.verify.setup import Setup

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
    recipes = plan.recipes
    results: list[PositionResult] = []
    findings: list[Finding] = list(step.findings)
    for position in step.positions:
        result, more = _position(step, position, plan, settings)
        results.append(result)
        findings += more
    bonus = None
    if step.bonus is not None:
        bonus, more = _bonus(step, plan, settings)
        findings += more
    elif Role.BONUS_FROM in recipes.given and recipes.recipes[Role.BONUS_FROM] != recipes.target:
        raise SettingsError(
            "role bonus_from is given, and the step has no bonus row to try it on",
            place=step.source,
            expected="a step with a bonus row",
            advice="blocks of dumps need --draft-lengths; a JSON step needs a bonus row",
        )
    verdicts = [result.verdict for result in results] + ([bonus.verdict] if bonus else [])
    return StepResult(
        id=step.id,
        source=step.source,
        rule=plan.use.text,
        verdict=worst(verdicts),
        positions=tuple(results),
        mean_acceptance_length=_mean_acceptance_length(results, step),
        bonus=bonus,
        findings=tuple(_allowed(findings, settings)),
    )


def worst(verdicts: Sequence[Verdict]) -> Verdict:
    """The verdict of several: different, undecided, within-tolerance, equal, in that order."""
    for verdict in _WORST_FIRST:
        if verdict in verdicts:
            return verdict
    return Verdict.NOTHING_CHECKED


def _position(
    step: Step, position: Position, plan: Plan, settings: CheckSettings
) -> tuple[PositionResult, list[Finding]]:
    context = _context(step, position, position.index, plan, settings)
    fixed = settings.overrides.roles
    by_role, rows = role_fillings(position.roles, plan.recipes.recipes, fixed)
    proposal = plan.proposal_of(position)

    def laws_with(chosen: Mapping[Role, Recipe]) -> PositionLaws:
        bonus = proposal is not None
        return position_laws(position.target, position.draft, chosen, rows, context, bonus)

    def checked_with(found: PositionLaws) -> Checked:
        setup = _setup(found, plan, position, proposal)
        place = position.draft.place
        checked = check_position(position.index, found, setup, settings, step.vocab, place)
        return with_closed_forms(checked, found, settings)

    def verify(moved: Mapping[Role, Recipe]) -> tuple[PositionLaws, Verdict]:
        again = laws_with(moved)
        return again, checked_with(again).result.verdict

    found = laws_with(by_role)
    try:
        checked = checked_with(found)
    except SettingsError as error:
        raise error.at(position.target.place) from None
    verdict = settled(found, checked.result.verdict, by_role, verify)
    open_law = None
    if settings.preset is None:
        open_law = open_cut_off(found, by_role, laws_with, position.index)
    if open_law is not None and verdict is Verdict.EQUAL:
        verdict = Verdict.UNDECIDED
    if verdict is not checked.result.verdict:
        checked = replace(checked, result=replace(checked.result, verdict=verdict))
    findings = mismatch.remarks(found, position.index)
    findings += [open_law] if open_law is not None else []
    if open_law is None or verdict is not Verdict.UNDECIDED:
        findings += _findings(step, position, checked, found, settings)
    return checked.result, findings


def _setup(found: PositionLaws, plan: Plan, position: Position, proposal: Proposal | None) -> Setup:
    return Setup(
        laws=found.laws,
        one_hot=found.one_hot,
        rule=plan.rule,
        use=plan.use,
        numerics=plan.numerics,
        proposal=proposal,
        keep=position.keep,
        given=position.given,
    )


def _context(
    step: Step, position: Position | None, index: int, plan: Plan, settings: CheckSettings
) -> RowContext:
    drafted = step.draft_tokens or ()
    earlier = drafted[:index] if len(drafted) >= index else None
    history = None
    if settings.history is not None:
        history = TokenHistory(settings.history, settings.prompt_length, earlier)
    elif step.context is not None:
        history = TokenHistory(step.context, step.prompt_length, earlier)
    return RowContext(
        history=history,
        normalise=settings.normalise,
        drafted_token=drafted[index] if index < len(drafted) else None,
        target_size=None if position is None else position.target.size,
        draft_map=settings.draft_map or (None if position is None else position.draft_map),
        texts=None if step.vocab is None else step.vocab.texts,
        draft_texts=None if step.draft_vocab is None else step.draft_vocab.texts,
        unnormalised=plan.numerics.unnormalised,
    )


def _bonus(step: Step, plan: Plan, settings: CheckSettings) -> tuple[BonusResult, list[Finding]]:
    if step.bonus is None:
        raise ValueError("the step has no bonus row")
    context = _context(step, None, len(step.positions), plan, settings)
    own = {} if step.bonus_from is None else {Role.BONUS_FROM: step.bonus_from}
    by_role, rows = role_fillings(own, plan.recipes.recipes, settings.overrides.roles)
    found = position_laws(step.bonus, None, by_role, rows, context)
    bonus = check_bonus(found, settings, step.vocab)
    if found.close_cuts and not found.one_law_a_side:
        bonus = replace(bonus, verdict=Verdict.UNDECIDED)
    findings = mismatch.remarks(found, mismatch.BONUS)
    if bonus.verdict in (Verdict.DIFFERENT, Verdict.WITHIN_TOLERANCE):
        findings.append(mismatch.bonus_finding(bonus, step))
    elif bonus.verdict is Verdict.UNDECIDED:
        findings.append(
            mismatch.undecided_finding(mismatch.BONUS, bonus.total_variation, found.close_cuts)
        )
    return bonus, findings


def _findings(
    step: Step,
    position: Position,
    checked: Checked,
    found: PositionLaws,
    settings: CheckSettings,
) -> list[Finding]:
    verdict = checked.result.verdict
    findings = []
    if checked.comparison.unassigned:
        findings.append(mismatch.unassigned_finding(position.index, checked))
    elif checked.other_reading is not None:
        findings.append(mismatch.zero_draft_finding(position.index, checked))
    elif verdict is Verdict.UNDECIDED:
        findings.append(
            mismatch.undecided_finding(
                position.index, checked.result.total_variation, found.close_cuts
            )
        )
    if verdict in (Verdict.DIFFERENT, Verdict.WITHIN_TOLERANCE):
        findings.append(mismatch.output_finding(step, position, checked, found, settings))
    return findings


def _mean_acceptance_length(results: Sequence[PositionResult], step: Step) -> Figure | None:
    """1 + acceptance for one position; rows along one path do not determine it for more."""
    if len(results) != 1:
        return None
    rate = results[0].acceptance_rate
    if rate.exact is None:
        return None
    return Figure.of(1 + rate.exact, rate.bound)


def _allowed(findings: Sequence[Finding], settings: CheckSettings) -> list[Finding]:
    return [
        Finding(
            finding.ident, finding.severity, finding.message, finding.position, finding.notes,
            finding.repairs, finding.reproduce, allowed=True,
        ) if finding.ident in settings.allow else finding
        for finding in findings
    ]  # fmt: skip
