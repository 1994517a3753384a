"""Reports of every kind that a form of a report has to show, and what a pipeline makes of each."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

from specdist.exact.interval import Interval
from specdist.model.baseline import BaselineReport
from specdist.model.capture import Unreadable
from specdist.model.counters import Counters
from specdist.model.figure import Figure
from specdist.model.finding import Finding, Severity
from specdist.model.outcome import Outcome
from specdist.model.replay_report import (
    CheckCount,
    Event,
    ReplayFinding,
    ReplayReport,
    ReplayVerdict,
    StepLine,
    What,
)
from specdist.model.report import Report, StepResult
from specdist.model.trace import FinalKind
from specdist.model.verdict import Verdict
from specdist.reports.forms.form import AnyReport
from tests import report_samples
from tests.audit_samples import audits
from tests.report_samples import FAILING, FINDING, PASSING

HOSTILE = "a|b`c``\x1b[31m\n::error::,%\r\x00\ud800\ufffe]]><x y=\"'&\u202e@all #1"
EQUAL, DIFFERENT = Verdict.EQUAL, Verdict.DIFFERENT


def steps_of(
    count: int,
    failing: Callable[[int], bool] = lambda number: False,
    findings: tuple[Finding, ...] = (FINDING,),
    source: str = "captures/a.json",
) -> Report:
    """A report of many steps of one position."""
    base = report_samples.passing()
    good, bad = base.steps[0], report_samples.failing().steps[0]
    steps = []
    for number in range(count):
        place = f"{source}, steps[{number}]"
        step = replace(bad, findings=findings) if failing(number) else good
        steps.append(replace(step, id=str(number), source=place))
    return of_steps(steps, source)


def of_steps(steps: list[StepResult], *sources: str, allowed: int = 0) -> Report:
    """A report with the counts of its steps."""
    verdicts = [step.verdict for step in steps]
    found = {verdict: verdicts.count(verdict) for verdict in Verdict}
    base = report_samples.passing()
    order = (DIFFERENT, Verdict.UNDECIDED, Verdict.WITHIN_TOLERANCE, EQUAL)
    summary = replace(
        base.summary,
        steps=len(steps),
        positions=len(steps),
        equal=found[EQUAL],
        within_tolerance=found[Verdict.WITHIN_TOLERANCE],
        different=found[DIFFERENT],
        undecided=found[Verdict.UNDECIDED],
        allowed=allowed,
    )
    verdict = next((v for v in order if found[v]), Verdict.NOTHING_CHECKED)
    return replace(
        base, verdict=verdict, summary=summary, steps=tuple(steps), sources=tuple(sources)
    )


def step(verdict: Verdict, *findings: Finding, id: str = "0", file: str = "a.json") -> StepResult:
    where = FAILING if verdict is DIFFERENT else PASSING
    made = report_samples.report(replace(where, verdict=verdict), *findings).steps[0]
    return replace(made, id=id, source=f"{file}, steps[{id}]", verdict=verdict)


def finding(severity: Severity, ident: str, message: str = "said", at: int | None = 0) -> Finding:
    return Finding(ident, severity, message, at)


WARNING = finding(Severity.WARNING, "undecided-precision", "the verdict hangs on a cut")
NOTE = finding(Severity.NOTE, "near-cut", "a cut within float32 rounding")
LOSSY = finding(Severity.WARNING, "lossy-by-design", "the rule is lossy")
FLOOR = finding(Severity.ERROR, "acceptance-below-floor", "0.7 is below the floor 4/5", None)
BUDGET = finding(Severity.WARNING, "undecided-budget", "the time budget ended the run", None)
WORSE = finding(
    Severity.ERROR, "baseline-regression", "1 of 1 matched steps worse than in old.json", None
)
BROKEN = Unreadable("broken.json", "the file ends early", "broken.json, line 3", "a bracket", "fix")
BOUNDS = Interval(Fraction(3, 5), Fraction(17, 20))


def _hostile() -> Report:
    bad = step(DIFFERENT, replace(FINDING, message=HOSTILE, notes=(HOSTILE,)), id=HOSTILE)
    made = of_steps([replace(bad, source=f"{HOSTILE}, steps[0]")], HOSTILE)
    broken = Unreadable(HOSTILE, HOSTILE, f"{HOSTILE}, line 2", HOSTILE, HOSTILE)
    return replace(
        made,
        settings={HOSTILE: HOSTILE, "draft-lengths": [HOSTILE]},
        unreadable=(broken,),
        read_as=(HOSTILE,),
        scope=(HOSTILE,),
    )


def _nothing() -> Report:
    return replace(report_samples.nothing(), steps=(), sources=("a.json",))


def checks() -> dict[str, tuple[AnyReport, Outcome]]:
    """Reports of checks by name, with what each means."""
    allowed = replace(FINDING, allowed=True)
    lowered = replace(FINDING, severity=Severity.WARNING, allowed=True)
    raised = replace(NOTE, severity=Severity.ERROR)
    tolerance = Verdict.WITHIN_TOLERANCE
    two = [step(EQUAL), step(Verdict.UNDECIDED, WARNING, id="1")]
    mixed = [*two, step(DIFFERENT, FINDING, NOTE, id="2"), step(EQUAL, NOTE, LOSSY, id="3")]
    mean = of_steps([step(EQUAL)], "a.json")
    counts = replace(mean.summary, acceptance_rate=None, acceptance_bounds=BOUNDS)
    return {
        "equal": (of_steps([step(EQUAL)], "a.json"), Outcome.PASSED),
        "typed": (of_steps([step(EQUAL, file="command line")], "command line"), Outcome.PASSED),
        "typed different": (
            of_steps([step(DIFFERENT, FINDING, file="command line")], "command line"),
            Outcome.FAILED,
        ),
        "within tolerance": (of_steps([step(tolerance, FINDING)], "a.json"), Outcome.PASSED),
        "different": (of_steps([step(DIFFERENT, FINDING)], "a.json"), Outcome.FAILED),
        "different without a finding": (of_steps([step(DIFFERENT)], "a.json"), Outcome.FAILED),
        "undecided": (of_steps(two, "a.json"), Outcome.UNDECIDED),
        "undecided without a finding": (
            of_steps([step(Verdict.UNDECIDED)], "a.json"),
            Outcome.UNDECIDED,
        ),
        "mixed": (of_steps(mixed, "a.json"), Outcome.FAILED),
        "allowed": (of_steps([step(DIFFERENT, allowed)], "a.json", allowed=1), Outcome.PASSED),
        "lowered": (
            of_steps([step(DIFFERENT, lowered)], "a.json", allowed=1),
            Outcome.PASSED,
        ),
        "raised": (
            replace(of_steps([step(EQUAL, raised)], "a.json"), raised=(raised.ident,)),
            Outcome.FAILED,
        ),
        "known in part": (replace(mean, summary=counts), Outcome.PASSED),
        "floor missed": (
            replace(mean, findings=(FLOOR,), floors_missed=(FLOOR.message,)),
            Outcome.FAILED,
        ),
        "floor allowed": (
            replace(mean, findings=(replace(FLOOR, allowed=True),)),
            Outcome.PASSED,
        ),
        "out of time": (
            replace(mean, findings=(BUDGET,), verdict=Verdict.UNDECIDED),
            Outcome.UNDECIDED,
        ),
        "worse than the baseline": (
            replace(mean, findings=(WORSE,), baseline=BaselineReport("old.json", "0.0.0", 1)),
            Outcome.FAILED,
        ),
        "perhaps worse than the baseline": (
            replace(
                mean,
                findings=(replace(WORSE, severity=Severity.WARNING),),
                baseline=BaselineReport("old.json", "0.0.0", 1),
                verdict=Verdict.UNDECIDED,
            ),
            Outcome.UNDECIDED,
        ),
        "unreadable among readable": (replace(mean, unreadable=(BROKEN,)), Outcome.FAILED),
        "nothing": (_nothing(), Outcome.NOTHING_CHECKED),
        "hostile": (_hostile(), Outcome.FAILED),
    }


EVENT = Event(
    "0.0", "run/steps.jsonl, line 4", 0, 0, 1, What.RECOVERED, 1, "u = 0.5", "0 (1 has no mass)"
)
CONTRADICTION = ReplayFinding(
    Finding("recovered-outside-residual", Severity.ERROR, "1 recovered token has no residual mass"),
    (EVENT,),
)
MISSING = ReplayFinding(
    Finding("configuration-needed", Severity.WARNING, "say how draws are made"), ()
)


def replayed(verdict: ReplayVerdict, *findings: ReplayFinding, differed: int = 0) -> ReplayReport:
    """A replay of one step."""
    nothing = verdict is ReplayVerdict.NOTHING_CHECKED
    names = ("accept decisions", "draft draws", "recovered tokens", "bonus tokens", "contexts")
    checks = [CheckCount(name, 0 if nothing else 2) for name in names]
    checks[2] = replace(checks[2], differed=differed)
    checks[3] = CheckCount("bonus tokens", 0, unchecked={"no uniforms": 1})
    return ReplayReport(
        version="0.0.0",
        source="run",
        reader="trace",
        facts=(("rows", "in the lines"),),
        settings={"rule": "token"},
        roles=(("reference", "raw"), ("drafted_from", "raw")),
        verdict=verdict,
        steps=(StepLine("run/steps.jsonl, line 1", 0, 0, 2, 1, 2, FinalKind.RECOVERED),),
        checks=tuple(checks),
        findings=findings,
        counters=Counters("run", "trace", "recorded", steps=1, draft_tokens=2, accepted=1),
        figures=(),
        scope=("recorded numbers are taken as they are",),
    )


def replays() -> dict[str, tuple[AnyReport, Outcome]]:
    """Reports of replays by name, with what each means."""
    kinds = ReplayVerdict
    return {
        "consistent": (replayed(kinds.CONSISTENT), Outcome.PASSED),
        "contradicted": (replayed(kinds.CONTRADICTED, CONTRADICTION, differed=1), Outcome.FAILED),
        "setting missing": (replayed(kinds.UNDECIDED, MISSING), Outcome.UNDECIDED),
        "nothing replayed": (replayed(kinds.NOTHING_CHECKED), Outcome.NOTHING_CHECKED),
    }


SAMPLES: dict[str, tuple[AnyReport, Outcome]] = {**checks(), **replays(), **audits(HOSTILE)}


def code_of(outcome: Outcome) -> int:
    """The exit code of a run, by the table of the command line."""
    return {Outcome.FAILED: 1, Outcome.NOTHING_CHECKED: 3, Outcome.UNDECIDED: 4}.get(outcome, 0)


def figure(text: str) -> Figure:
    return Figure.of(Fraction(text))
