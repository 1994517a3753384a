"""A step over conditional models: enumerated, compared with the target's joint law, explained."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from fractions import Fraction

from specdist.errors import SettingsError
from specdist.model.capture import Step
from specdist.model.joint_report import JointResult
from specdist.model.proposal import Proposal, read_proposal
from specdist.model.report import StepResult
from specdist.model.role import Role
from specdist.model.settings import CheckSettings
from specdist.model.verdict import Verdict
from specdist.rules.lengths.chosen_length import ChosenLength, chosen_length
from specdist.verify.joint.admission import admission
from specdist.verify.joint.correction import corrected
from specdist.verify.joint.figures import (
    bonus_figures,
    expected_tokens,
    figure,
    marginals,
    sequence_lines,
    survival,
)
from specdist.verify.joint.findings import open_findings, output_findings
from specdist.verify.joint.gathering import Gathered
from specdist.verify.joint.joint_setup import JointSetup
from specdist.verify.joint.optimum import optima, optima_note
from specdist.verify.joint.output import expanded
from specdist.verify.joint.prefix_laws import ModelLaws, require_models
from specdist.verify.joint.row_models import FIRST_ONLY, one_position
from specdist.verify.joint.verdict import JointChecked, checked_setup, rounding_bound
from specdist.verify.plan import Plan
from specdist.verify.proposal_shape import proposal_tree
from specdist.verify.undecided import remark_findings

UNKNOWN_ERROR = (
    "weights are within their rounding of each other, so that nothing better is known of how far "
    "rounding moves the figures of this rule"
)

FOREIGN_ERROR = (
    "a rule of your own sees the represented numbers: nothing is known of how far rounding moves "
    "its figures, and rows that are exact (probabilities) leave nothing open"
)


def verify_one_position(step: Step, plan: Plan, settings: CheckSettings) -> StepResult:
    """Captured rows of one position under a rule that takes several drafts there: the law of the
    first token. Raises as `one_position` and `verify_joint_step`."""
    result = verify_joint_step(*one_position(step, plan, settings))
    if result.joint is None:
        raise ValueError("a step over models has joint figures")
    joint = replace(result.joint, bonus=None, notes=(*result.joint.notes, FIRST_ONLY))
    return replace(result, joint=joint)


def verify_joint_step(step: Step, plan: Plan, settings: CheckSettings) -> StepResult:
    """The joint law of what the step emits against the target's, as one result.

    Raises SpecdistError for missing prefixes, rows that hold no distribution, shapes and settings
    that do not fit, and for a step that is too large to enumerate.
    """
    setup = joint_setup(step, plan, settings)
    horizon = settings.horizon or setup.tree.depth + 1
    checked = checked_setup(setup, horizon, settings)
    result = _result(checked, step, settings)
    if checked.verdict is Verdict.DIFFERENT:
        result = replace(result, correction=corrected(setup, horizon))
    findings = [*step.findings, *remark_findings(setup.laws.met.noted)]
    if checked.verdict in (Verdict.DIFFERENT, Verdict.WITHIN_TOLERANCE):
        findings += output_findings(checked, result, step, plan, settings)
    elif checked.verdict is Verdict.UNDECIDED:
        findings += open_findings(checked, result)
    allowed = settings.allow
    return StepResult(
        id=step.id,
        source=step.source,
        rule=plan.use.text,
        options=_options(setup, plan),
        verdict=checked.verdict,
        positions=(),
        mean_acceptance_length=result.expected_tokens,
        bonus=None,
        findings=tuple(
            replace(found, allowed=True) if found.ident in allowed else found for found in findings
        ),
        joint=result,
    )


def joint_setup(step: Step, plan: Plan, settings: CheckSettings) -> JointSetup:
    """The step with the settings that hold for it."""
    tree = proposal_tree(step, settings)
    length = chosen_length(settings.length, step.length)
    return JointSetup(
        laws=ModelLaws(step, require_models(step), tree, plan, settings),
        tree=tree,
        rule=plan.rule,
        use=plan.use,
        numerics=plan.numerics,
        proposal=_proposal(step, plan, length),
        joint=plan.joint,
        limit=settings.max_outcomes,
        length=length,
    )


def _proposal(step: Step, plan: Plan, length: ChosenLength | None) -> Proposal | None:
    """What becomes of dropped draft tokens: of a keep rule, or behind the verified length."""
    if length is None:
        return plan.proposal
    if plan.proposal is not None:
        raise SettingsError(
            f"length {length.use.text} and a keep rule are given together",
            place=step.source,
            expected="one of --length and --keep",
        )
    if plan.joint is not None and plan.keep_options:
        raise SettingsError(
            f"{' and '.join(sorted(plan.keep_options))} with rule {plan.use.text}",
            place=step.source,
            expected="a rule that tests position after position",
        )
    return read_proposal(None, plan.keep_options)


def _options(setup: JointSetup, plan: Plan) -> Mapping[str, str]:
    """The options of numeric model and proposal as they are written, the length rule with them."""
    return plan.model if setup.length is None else {**plan.model, "length": setup.length.use.text}


def _result(checked: JointChecked, step: Step, settings: CheckSettings) -> JointResult:
    setup, gathered, law, bound = checked.setup, checked.gathered, checked.law, checked.bound
    laws, tree = setup.laws, setup.tree
    lengths = gathered.accepted_length(tree.depth)
    accepted = gathered.expected_accepted
    different = checked.verdict is not Verdict.EQUAL
    singles = expanded(law, laws)
    shown = _shown_bound(checked)
    return JointResult(
        shape=tree.shape,
        vocab_size=laws.size,
        nodes=tree.nodes,
        depth=tree.depth,
        horizon=law.horizon,
        route=setup.route,
        outcomes=gathered.listed,
        total_variation=figure(law.total_variation, bound),
        expected_accepted=figure(accepted, bound * tree.depth),
        expected_tokens=figure(expected_tokens(gathered), bound * (tree.depth + 1)),
        survival=tuple(figure(value, bound) for value in survival(lengths)),
        accepted_length=tuple(figure(value, bound) for value in lengths),
        marginals=marginals(law, singles, laws, step.vocab, settings.show, shown),
        sequences=sequence_lines(singles or law.blocks, step.vocab, settings.show, shown),
        roles=laws.uses(),
        bonus=bonus_figures(gathered, laws, shown),
        optima=optima(tree, laws, accepted, laws.met.bound, bound * tree.depth),
        admission=None if setup.length is None else admission(setup.profile, step.vocab),
        unused_rows=laws.unused_rows(),
        forbidden_mass=figure(law.forbidden_mass, bound) if different else None,
        notes=tuple(_notes(setup, gathered)),
    )


def _shown_bound(checked: JointChecked) -> Fraction:
    """`JointChecked.bound` once single outputs are listed: they, and the bonus token, may ask for
    rounded rows that the comparison did not need."""
    setup, gathered = checked.setup, checked.gathered
    for kept in gathered.bonus:
        setup.laws.law(Role.REFERENCE, kept)
    return max(checked.bound, rounding_bound(setup, gathered, checked.law.horizon))


def _notes(setup: JointSetup, gathered: Gathered) -> Iterator[str]:
    """What was not worked out."""
    if gathered.error >= 2:
        foreign = setup.joint is not None and setup.joint.foreign
        yield FOREIGN_ERROR if foreign else UNKNOWN_ERROR
    skipped = optima_note(setup.tree, setup.laws.size)
    if skipped is not None:
        yield skipped
