"""A batch: the joint law of what all its requests emit, and each request by itself."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction

from specdist.model.capture import Step
from specdist.model.finding import Finding
from specdist.model.joint_report import JointResult, Marginal, RequestLine, SequenceLine
from specdist.model.report import StepResult
from specdist.model.settings import CheckSettings
from specdist.model.verdict import Verdict
from specdist.verify.joint.batch_findings import batch_findings, open_batch
from specdist.verify.joint.batch_law import BatchLaw, Output, batch_law
from specdist.verify.joint.batch_reproduction import batch_reproduction
from specdist.verify.joint.batch_setup import Batch, batch_of, prefix_of
from specdist.verify.joint.batch_witness import batch_admission, batch_correction
from specdist.verify.joint.figures import figure, marginals, survival
from specdist.verify.joint.given_drafts import require_sure_tests
from specdist.verify.joint.output import expanded
from specdist.verify.plan import Plan
from specdist.verify.undecided import remark_findings

_ZERO, _ONE = Fraction(0), Fraction(1)
_ALL_OUTPUTS = 64


def verify_batch_step(step: Step, plan: Plan, settings: CheckSettings) -> StepResult:
    """The joint law of what the requests of a batch emit against the product of their targets'
    laws, and the law of each by itself.

    The verdict is that of the joint law. Raises SpecdistError for requests, schedules and settings
    that do not fit, and for a batch that is too large to enumerate.
    """
    batch = batch_of(step, settings)
    for setup in batch.setups:
        require_sure_tests(setup)
    law = batch_law(batch, settings.horizon or batch.depth + 1)
    bound = _bound(batch, law)
    verdict = _judged(law.total_variation, bound, settings)
    if batch.as_specified and not law.total_variation:
        verdict = Verdict.EQUAL
    result = _result(batch, law, step, settings, bound)
    if verdict is Verdict.DIFFERENT:
        result = replace(result, correction=batch_correction(batch, law.horizon))
    findings = list(dict.fromkeys([*step.findings, *_remarks(batch, step)]))
    if verdict in (Verdict.DIFFERENT, Verdict.WITHIN_TOLERANCE):
        line = batch_reproduction(step, batch, plan, settings, verdict)
        findings.append(batch_findings(batch, law, result, line))
    elif verdict is Verdict.UNDECIDED:
        findings.append(open_batch())
    return StepResult(
        id=step.id,
        source=step.source,
        rule=plan.use.text,
        options={**plan.model, "length": batch.schedule.use.text},
        verdict=verdict,
        positions=(),
        mean_acceptance_length=None,
        bonus=None,
        findings=tuple(
            replace(found, allowed=True) if found.ident in settings.allow else found
            for found in findings
        ),
        joint=result,
    )


def _bound(batch: Batch, law: BatchLaw) -> Fraction:
    """Nothing is known where rows were rounded, or masses are irrational."""
    met = [setup.laws.met for setup in batch.setups]
    off = any(one.bound or one.open for one in met)
    return _ONE if off or any(alone.gathered.error for alone in law.alone) else _ZERO


def _judged(variation: Fraction, bound: Fraction, settings: CheckSettings) -> Verdict:
    """Rounded rows prove nothing here: a schedule may turn on any of their digits."""
    if bound:
        return Verdict.UNDECIDED
    if not variation:
        return Verdict.EQUAL
    within = settings.max_tv is not None and variation <= settings.max_tv
    return Verdict.WITHIN_TOLERANCE if within else Verdict.DIFFERENT


def _remarks(batch: Batch, step: Step) -> Iterator[Finding]:
    for setup, request in zip(batch.setups, step.requests, strict=True):
        yield from request.findings
        yield from remark_findings(setup.laws.met.noted)


def _result(
    batch: Batch, law: BatchLaw, step: Step, settings: CheckSettings, bound: Fraction
) -> JointResult:
    accepted = sum((count * mass for count, mass in enumerate(law.accepted)), _ZERO)
    chains = [setup.tree.nodes for setup in batch.setups]
    return JointResult(
        shape=f"a batch of {len(chains)} request{'' if len(chains) == 1 else 's'}, "
        f"{' + '.join(map(str, chains))} draft tokens",
        vocab_size=max(setup.laws.size for setup in batch.setups),
        nodes=sum(chains),
        depth=sum(chains),
        horizon=law.horizon,
        route="proposals",
        outcomes=len(batch.scheduled),
        total_variation=figure(law.total_variation, bound),
        expected_accepted=figure(accepted, bound * sum(chains)),
        expected_tokens=figure(accepted + len(chains), bound * sum(chains)),
        survival=tuple(figure(value, bound) for value in survival(law.accepted)),
        accepted_length=tuple(figure(value, bound) for value in law.accepted),
        marginals=tuple(_marginals(batch, law, step, settings, bound)),
        sequences=_sequences(law, step, settings, bound),
        roles=batch.setups[0].laws.uses(),
        admission=batch_admission(batch, step),
        requests=tuple(_requests(law, settings, bound)),
        unused_rows=sum(setup.laws.unused_rows() for setup in batch.setups),
        forbidden_mass=figure(law.forbidden_mass, bound) if law.total_variation else None,
    )


def _requests(law: BatchLaw, settings: CheckSettings, bound: Fraction) -> Iterator[RequestLine]:
    for index, alone in enumerate(law.alone):
        variation = alone.law.total_variation
        yield RequestLine(
            index,
            _judged(variation, bound, settings),
            figure(variation, bound),
            figure(alone.gathered.expected_accepted, bound),
        )


def _marginals(
    batch: Batch, law: BatchLaw, step: Step, settings: CheckSettings, bound: Fraction
) -> Iterator[Marginal]:
    """The tokens of request r stand at the places from r K on."""
    for r, (alone, setup) in enumerate(zip(law.alone, batch.setups, strict=True)):
        vocab = step.requests[r].vocab
        singles = expanded(alone.law, setup.laws)
        for found in marginals(alone.law, singles, setup.laws, vocab, settings.show, bound):
            yield replace(found, index=r * law.horizon + found.index)


def _sequences(
    law: BatchLaw, step: Step, settings: CheckSettings, bound: Fraction
) -> tuple[SequenceLine, ...]:
    """The outputs of all requests with the largest differences, then those of the largest mass."""
    outputs = [*law.reference, *(z for z in law.output if z not in law.reference)]

    def masses(z: Output) -> tuple[Fraction, Fraction]:
        return law.reference.get(z, _ZERO), law.output.get(z, _ZERO)

    def importance(z: Output) -> tuple[Fraction, Fraction, Output]:
        reference, output = masses(z)
        return -abs(output - reference), -reference, z

    ranked = sorted(outputs, key=importance)
    vocabs = [request.vocab for request in step.requests]
    lines = []
    for z in ranked if len(ranked) <= _ALL_OUTPUTS else ranked[: settings.show]:
        reference, output = masses(z)
        texts = tuple(
            None if vocab is None else vocab.text(token)
            for tokens, vocab in zip(z, vocabs, strict=True)
            for token in tokens
        )
        lines.append(
            SequenceLine(
                prefix_of(z),
                texts,
                figure(reference, bound),
                figure(output, bound),
                figure(output - reference, 2 * bound),
            )
        )
    return tuple(lines)
