"""The exit codes: one enum, one table, and one function of the report alone."""

from __future__ import annotations

from enum import IntEnum

from specdist.model.finding import Severity
from specdist.model.replay_report import ReplayReport, ReplayVerdict
from specdist.model.report import Report
from specdist.model.verdict import Verdict


class ExitCode(IntEnum):
    """What a run of specdist means to the program that started it."""

    PASSED = 0
    FAILED = 1
    NOT_STARTED = 2
    NOTHING_CHECKED = 3
    UNDECIDED = 4
    BUG = 70
    INTERRUPTED = 130


MEANING: dict[ExitCode, str] = {
    ExitCode.PASSED: "steps were checked, all equal or within a declared tolerance",
    ExitCode.FAILED: "a step differs, a floor is missed, or a file is unreadable",
    ExitCode.NOT_STARTED: "could not start: bad option, bad config, no readable capture",
    ExitCode.NOTHING_CHECKED: "nothing was checked: no steps, or all filtered out",
    ExitCode.UNDECIDED: "no step differs, at least one is undecided",
    ExitCode.BUG: "a bug in specdist",
    ExitCode.INTERRUPTED: "interrupted",
}


def exit_code(report: Report) -> ExitCode:
    """The exit code of a finished run. When several apply: 2, then 1, 4, 3, 0."""
    counts = report.summary
    unreadable = any(item.counts for item in report.unreadable)
    accused = any(f.severity is Severity.ERROR and not f.allowed for f in report.findings)
    if not report.sources:
        return ExitCode.NOT_STARTED
    if counts.different > counts.allowed or report.floors_missed or unreadable or accused:
        return ExitCode.FAILED
    if counts.undecided or report.verdict is Verdict.UNDECIDED:
        return ExitCode.UNDECIDED
    if not counts.steps:
        return ExitCode.NOTHING_CHECKED
    return ExitCode.PASSED


def replay_exit_code(report: ReplayReport) -> ExitCode:
    """The exit code of a finished replay, by the same table."""
    return {
        ReplayVerdict.CONTRADICTED: ExitCode.FAILED,
        ReplayVerdict.UNDECIDED: ExitCode.UNDECIDED,
        ReplayVerdict.NOTHING_CHECKED: ExitCode.NOTHING_CHECKED,
        ReplayVerdict.CONSISTENT: ExitCode.PASSED,
    }[report.verdict]


def forgiven(code: ExitCode) -> ExitCode:
    """``--exit-zero``: a verdict no longer fails the run; not starting or checking nothing does."""
    return ExitCode.PASSED if code in (ExitCode.FAILED, ExitCode.UNDECIDED) else code


def table() -> str:
    """The exit codes as they stand in ``--help``, and their order when several apply."""
    lines = [f"{code.value:>3}  {text}" for code, text in MEANING.items()]
    return "\n".join(["Exit codes; when several apply: 70, 2, 1, 4, 3, 0", *lines])
