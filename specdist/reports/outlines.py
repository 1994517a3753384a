"""The outline of each kind of report."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

from specdist.exact.interval import Interval
from specdist.model.audit_report import AuditReport
from specdist.model.figure import Figure
from specdist.model.finding import Finding, Severity, Shown
from specdist.model.outcome import Outcome, accuses, outcome_of, replay_outcome
from specdist.model.replay_report import CheckCount, ReplayFinding, ReplayReport
from specdist.model.report import Report, StepResult
from specdist.model.verdict import Verdict
from specdist.reports import aggregate, baseline_text, finding_text, replay_text, terminal
from specdist.reports.audit_outline import of_audit
from specdist.reports.forms.form import AnyReport, FormOptions
from specdist.reports.outline import Case, Figures, Outline, Told
from specdist.reports.replay_tables import place_of
from specdist.reports.view import View, place
from specdist.verify.summary import is_allowed


def outline_of(report: AnyReport, options: FormOptions) -> Outline:
    """The outline of a report of any kind."""
    view = View(options.show, exact=options.exact)
    if isinstance(report, Report):
        return _of_check(report, view)
    if isinstance(report, AuditReport):
        return of_audit(report, view)
    return _of_replay(report, view)


def _of_check(report: Report, view: View) -> Outline:
    sources = _Sources(report.sources)
    return Outline(
        command="check",
        version=report.version,
        verdict=report.verdict.value,
        outcome=outcome_of(report),
        headline=terminal.summary(report)[-1],
        cases=tuple(_step(step, sources.of(step.source), view) for step in report.steps),
        findings=tuple(_of_run(finding, view) for finding in report.findings),
        unreadable=report.unreadable,
        not_captures=report.not_captures,
        sources=report.sources,
        figures=_named(
            ("acceptance rate", report.summary.acceptance_rate, report.summary.acceptance_bounds),
            (
                "largest total variation",
                report.summary.total_variation_max,
                report.summary.variation_bounds,
            ),
        ),
        facts=(*report.read_as, *report.in_force),
        against=tuple(baseline_text.lines(report, view)),
        scope=report.scope,
        settings=report.settings,
    )


class _Sources:
    """Finds the capture of a step: the longest name that the place of the step begins with."""

    def __init__(self, names: Sequence[str]) -> None:
        self._names = sorted(set(names), key=len, reverse=True)
        self._last = ""

    def of(self, source: str) -> str:
        if self._last and source.startswith(f"{self._last}, "):
            return self._last
        begun = (name for name in self._names if f"{source}, ".startswith(f"{name}, "))
        self._last = next(begun, "")
        return self._last or source


def _step(step: StepResult, source: str, view: View) -> Case:
    told = tuple(_findings(step, source, view))
    return Case(
        step.id,
        source,
        place(step, None),
        step.verdict.value,
        _step_outcome(step, told),
        told,
        tuple(_figures(step)),
    )


def _step_outcome(step: StepResult, told: Sequence[Told]) -> Outcome:
    if any(each.fails for each in told):
        return Outcome.FAILED
    if step.verdict is Verdict.DIFFERENT:
        return Outcome.ALLOWED if is_allowed(step) else Outcome.FAILED
    return Outcome.UNDECIDED if step.verdict is Verdict.UNDECIDED else Outcome.PASSED


def _findings(step: StepResult, source: str, view: View) -> Iterator[Told]:
    for finding in step.findings:
        if finding.shown is not Shown.ALONE and finding.severity is Severity.NOTE:
            continue  # said in the lesson of the finding that it belongs to
        verdict = finding_text.verdict_of(step, finding)
        tolerated = verdict is Verdict.WITHIN_TOLERANCE
        yield Told(
            finding,
            source,
            step.id,
            place(step, finding.position),
            partial(_lesson, step, finding, view),
            accuses(finding) and not tolerated,
            aggregate.size_of(step, finding),
        )


def _lesson(step: StepResult, finding: Finding, view: View) -> str:
    return "\n".join(finding_text.block(step, finding, view))


def _figures(step: StepResult) -> Iterator[tuple[str, Figure | Interval]]:
    several = len(step.positions) + len(step.bounded) > 1
    for position in step.positions:
        at = f" {position.index}" if several else ""
        yield f"acceptance rate{at}", position.acceptance_rate
        yield f"total variation{at}", position.total_variation
    for part in step.bounded:
        at = f" {part.index}" if several else ""
        yield f"acceptance rate{at}", part.acceptance_rate
        yield f"total variation{at}", part.total_variation
    if step.bonus is not None:
        yield "total variation of the bonus row", step.bonus.total_variation
    if step.joint is not None:
        yield "expected accepted", step.joint.expected_accepted
        yield "total variation", step.joint.total_variation
    if step.mean_acceptance_length is not None:
        yield "mean acceptance length", step.mean_acceptance_length


def _of_run(finding: Finding, view: View) -> Told:
    lines = finding_text.headline(finding, view).split("\n")
    lines += [f"   = note: {note}" for note in finding.notes]
    lines.append(f"   = explain: specdist explain {finding.ident}")
    text = "\n".join(lines)
    return Told(finding, "", "", "", lambda: text, accuses(finding), 1.0)


def _named(*figures: tuple[str, Figure | None, Interval | None]) -> Figures:
    both = ((name, interval or figure) for name, figure, interval in figures)
    return tuple((name, value) for name, value in both if value is not None)


def _of_replay(report: ReplayReport, view: View) -> Outline:
    """A case is a check of the replay; its findings are those of the run, for a finding may rest
    on several checks."""
    return Outline(
        command="replay",
        version=report.version,
        verdict=report.verdict.value,
        outcome=replay_outcome(report),
        headline=_line(replay_text.verdict_lines(report, view)),
        cases=tuple(_check(check, report) for check in report.checks),
        findings=tuple(_of_trace(found, report, view) for found in report.findings),
        sources=(report.source,),
        facts=tuple(f"{name}: {value}" for name, value in report.facts),
        scope=report.scope,
        settings=report.settings,
    )


def _line(lines: Sequence[str]) -> str:
    """The verdict and what was checked on one line."""
    first, *rest = lines
    return f"{first}; {' '.join(line.strip() for line in rest)}"


def _check(check: CheckCount, report: ReplayReport) -> Case:
    outcome, verdict = Outcome.PASSED, "agreed"
    if check.differed:
        outcome, verdict = Outcome.FAILED, "differed"
    elif check.undecided:
        outcome, verdict = Outcome.UNDECIDED, "undecided"
    elif not check.agreed:
        outcome, verdict = Outcome.NOTHING_CHECKED, "unchecked"
    return Case(check.name, report.source, report.source, verdict, outcome)


def _of_trace(found: ReplayFinding, report: ReplayReport, view: View) -> Told:
    at = place_of(found.events[0]) if found.events else report.source
    return Told(
        found.finding,
        report.source,
        "",
        at,
        lambda: "\n".join(replay_text.lesson(report, found, view)),
        accuses(found.finding),
        len(found.events),
    )
