"""A trace, replayed: every check over every step, then what would explain the contradictions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase
from itertools import chain

from specdist import __version__
from specdist.errors import SettingsError
from specdist.model.options import ProcessingOptions
from specdist.model.replay_report import ReplayReport
from specdist.model.row import NumberFormat
from specdist.model.settings import CheckSettings
from specdist.model.trace import Conventions, Trace, TraceStep
from specdist.verify.plan import Plan, Plans
from specdist.verify.replay.accept_decisions import AcceptDecisions
from specdist.verify.replay.alignment import Alignments
from specdist.verify.replay.contexts import Contexts
from specdist.verify.replay.draft_draws import OTHER_LAW, DraftDraws
from specdist.verify.replay.dropped_tokens import DroppedTokens
from specdist.verify.replay.emitted_tokens import EmittedTokens
from specdist.verify.replay.end_tokens import EndTokens
from specdist.verify.replay.final_draws import OTHER_TARGET, FinalDraws
from specdist.verify.replay.recorded_rows import recorded_step
from specdist.verify.replay.step_laws import StepLaws
from specdist.verify.replay.tally import Check
from specdist.verify.replay.tested_values import TestedValues
from specdist.verify.replay.trace_counters import TraceCounters
from specdist.verify.replay.uniform_grid import BITS, UniformGrid
from specdist.verify.replay.uniform_reuse import UniformReuse
from specdist.verify.replay.verdict import gathered, verdict_of
from specdist.verify.severities import Severities

_TEXTBOOK = "textbook"
SCOPE = (
    "agreement of recorded steps with the rule is no proof of the engine's law: other steps may "
    "go otherwise (specdist check decides the law of captured rows)",
    "recorded numbers are taken as they are",
)


class Replay:
    """All checks of one trace."""

    def __init__(self, trace: Trace, settings: CheckSettings) -> None:
        self.trace, self._settings = trace, settings
        self.plan = _plan(trace, settings)
        self.conventions = _conventions(trace, self.plan, settings)
        self.decisions = AcceptDecisions()
        self.tested = TestedValues()
        self.drafts = DraftDraws()
        self.finals = FinalDraws()
        self.emitted = EmittedTokens(trace.end_tokens)
        self.dropped = DroppedTokens()
        presumed = self.plan.numerics.grid is None and not self.conventions.generator_stated
        self.grid = UniformGrid(_bits(self.conventions, self.plan), presumed)
        self.counters = TraceCounters(trace.source, trace.reported)
        self.checks: tuple[Check, ...] = (
            self.decisions,
            self.tested,
            self.drafts,
            self.dropped,
            self.finals,
            self.emitted,
            EndTokens(trace.end_tokens),
            Contexts(),
            self.grid,
            UniformReuse(self.grid),
            self.counters,
        )

    def run(self) -> None:
        """Shows every step to every check."""
        for laws in self.steps():
            for check in self.checks:
                check.add(laws)
        if self.tested.other_draft:
            self.decisions.withdraw(OTHER_LAW)
            self.drafts.withdraw()
            self.finals.withdraw_residuals()
        if self.tested.other_target:
            self.decisions.withdraw(OTHER_TARGET)
            self.finals.withdraw()
            self.emitted.withdraw(OTHER_TARGET)

    def steps(self) -> Iterator[StepLaws]:
        """The laws of every step, made afresh."""
        for step in self.trace.steps():
            yield StepLaws(step, self.plan, self._settings, self.conventions)

    @property
    def laws_known(self) -> bool:
        """Whether the rows are the laws that the engine used, as far as the trace shows."""
        return not (self.tested.other_draft or self.tested.other_target)

    @property
    def may_be_shifted(self) -> bool:
        """Whether rows contradict what is recorded, so that another alignment is worth a look."""
        finals = self.finals.recovered.differed + self.finals.bonus.differed
        return bool(self.decisions.by_rows or finals or self.drafts.tally.differed)

    def alignments(self) -> Alignments:
        """Every step under every alignment."""
        found = Alignments()
        for laws in self.steps():
            found.add(laws)
        return found


def selected(trace: Trace, pattern: str | None) -> Trace:
    """The trace with the steps whose id matches; counters of the run are then of other steps."""
    if pattern is None:
        return trace

    def steps() -> Iterator[TraceStep]:
        return (step for step in trace.steps() if fnmatchcase(step.id, pattern))

    return replace(trace, steps=steps, step_count=None, reported=())


def replay(
    trace: Trace,
    settings: CheckSettings,
    command: str = "specdist replay TRACE",
    shown: Mapping[str, object] | None = None,
) -> ReplayReport:
    """Checks every recorded decision, draw, context, uniform and counter of a trace.

    ``command``: the line that runs this replay, for reproduction; ``shown``: options for the
    report. Raises SpecdistError for rows and settings that do not fit the trace.
    """
    run = Replay(trace, settings)
    run.run()
    shifted = run.alignments().finding() if run.may_be_shifted else None
    found = gathered(run, shifted, settings, command)
    checks = tuple(chain.from_iterable(check.counts() for check in run.checks))
    grades = Severities(settings.severity, settings.allow)
    graded = tuple(replace(each, finding=grades.one(each.finding)) for each in found.findings)
    pairs = zip(found.findings, graded, strict=True)
    judged = (new if new.finding.allowed else old for old, new in pairs)
    return ReplayReport(
        version=__version__,
        source=trace.source,
        reader=trace.reader,
        facts=(*trace.facts, *_rule_facts(run.conventions)),
        settings=shown or {},
        roles=_roles(run.plan),
        verdict=verdict_of(judged, checks),
        steps=tuple(run.counters.lines),
        checks=checks,
        findings=graded,
        counters=run.counters.counters(),
        figures=run.counters.figures(),
        reported=run.counters.reported,
        explanation=found.explanation,
        evidence=found.evidence,
        scope=SCOPE,
        raised=grades.raised,
    )


def _plan(trace: Trace, settings: CheckSettings) -> Plan:
    """The settings in force for the trace. Raises SettingsError for what a replay cannot check."""
    step = TraceStep("", trace.source, 0, 0, (), (), 0)
    plan = Plans(settings).of(recorded_step(step, trace.options))
    if plan.joint is not None or plan.use.name not in ("token", "one-hot"):
        raise SettingsError(
            f"rule {plan.use.text}: recorded steps are replayed under token verification",
            expected="--rule token, or one-hot where no draft law is tested",
            advice="the same contexts under another rule are a counterfactual: --counterfactual "
            f"rule={plan.use.text}",
        )
    if plan.use.name == "token" and plan.use.word("recovery") != "residual":
        raise SettingsError(
            f"rule {plan.use.text} is a known mistake, and what a replay looks for",
            expected="--rule token",
        )
    numerics = plan.numerics
    if numerics.ratio_epsilon or numerics.residual_floor or numerics.unnormalised:
        raise SettingsError(
            "a ratio, a residual or rows are changed before the test, which is not replayed",
            expected="no ratio-epsilon, no residual-floor, rows of sum one",
        )
    if plan.proposal is not None:
        raise SettingsError(
            "a keep rule is given: which tokens were dropped is read from the trace",
            expected="no --keep",
        )
    return plan


def _conventions(trace: Trace, plan: Plan, settings: CheckSettings) -> Conventions:
    """Those of the trace; an inequality that an option or an engine states wins, and an engine
    computes in float32."""
    layers: Sequence[ProcessingOptions] = (settings.defaults, settings.overrides)
    stated = any("inequality" in layer.numerics for layer in layers)
    found, preset = trace.conventions, settings.preset
    if preset is not None:
        stated |= "inequality" in preset.numerics
        if preset.name != _TEXTBOOK:
            found = replace(found, arithmetic=NumberFormat.FLOAT32)
    return replace(found, strict=not plan.numerics.inclusive) if stated else found


def _bits(conventions: Conventions, plan: Plan) -> int | None:
    """Bits of the declared generator of uniforms."""
    grid = plan.numerics.grid
    if grid is not None and grid.points & (grid.points - 1) == 0:
        return grid.points.bit_length() - 1
    return None if conventions.uniforms is None else BITS.get(conventions.uniforms)


def _rule_facts(conventions: Conventions) -> Iterator[tuple[str, str]]:
    test = "u q(x) < p(x)" if conventions.strict else "u <= p(x) / q(x)"
    rounded = f", rounded to {conventions.quotient.value}" if conventions.quotient else ""
    yield "accepted iff", f"{test}{rounded} (p target, q draft; {conventions.stated})"
    if conventions.inverse_cdf:
        yield "draws", "the smallest x with u < p(0) + ... + p(x)"
    yield "arithmetic", f"{conventions.arithmetic.value}: what its rounding may turn is undecided"


def _roles(plan: Plan) -> tuple[tuple[str, str], ...]:
    return tuple((role.value, str(recipe)) for role, recipe in plan.recipes.recipes.items())
