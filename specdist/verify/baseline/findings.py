"""What a run says of its baseline, as findings: worse is an error, coverage that is lost is too."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from specdist.model.baseline import BaselineReport, Reason, StepChange
from specdist.model.finding import Finding, Severity

IDENT = "baseline-regression"


@dataclass(frozen=True, slots=True)
class Telling:
    """How findings are told: with at most ``show`` lines; ``allow`` are idents that do not fail;
    ``stopped``: the time budget ended the run."""

    show: int
    allow: Collection[str]
    stopped: bool

    def finding(self, severity: Severity, message: str, lines: Sequence[str]) -> Finding:
        """A finding of the run, its first lines as notes."""
        notes = [*lines[: max(self.show, 1)]]
        more = len(lines) - len(notes)
        notes += [f"... and {more} more (--show N lists more)"] if more else []
        return Finding(IDENT, severity, message, notes=tuple(notes), allowed=IDENT in self.allow)


def baseline_findings(report: BaselineReport, telling: Telling) -> list[Finding]:
    """Errors for what is worse and for what is not checked any more, a warning for what is open."""
    found = []
    steps = f"{report.matched} matched steps"
    if report.worse:
        message = f"{len(report.worse)} of {steps} worse than in {report.path}"
        found.append(telling.finding(Severity.ERROR, message, _lines(report.worse)))
    if report.missing:
        found.append(_missing(report, telling))
    if report.undecided:
        message = f"{len(report.undecided)} of {steps} perhaps worse than in {report.path}"
        found.append(telling.finding(Severity.WARNING, message, _lines(report.undecided)))
    return found


def _missing(report: BaselineReport, telling: Telling) -> Finding:
    lines = [f"{file}, step {ident}" for file, ident in report.missing]
    count = _count(len(lines), "step")
    if telling.stopped:
        message = f"{count} of {report.path} not reached within the time budget"
        return telling.finding(Severity.WARNING, message, lines)
    return telling.finding(Severity.ERROR, f"{count} of {report.path} not checked any more", lines)


def _lines(steps: Sequence[StepChange]) -> list[str]:
    return [line for step in steps for line in step_lines(step)]


def step_lines(step: StepChange) -> list[str]:
    """A line for each thing that changed at a step."""
    return [
        f"{step.source}, step {step.id}{_position(reason)}: {reason.message}"
        for reason in step.reasons
    ]


def _position(reason: Reason) -> str:
    if reason.position is None:
        return ""
    return ", bonus row" if reason.position < 0 else f", position {reason.position}"


def _count(count: int, noun: str) -> str:
    return f"{count} {noun}{'' if count == 1 else 's'}"
