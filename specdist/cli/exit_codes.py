"""The exit codes: one enum, one table, and one function of the report alone."""

from __future__ import annotations

from enum import IntEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from specdist.model.audit_report import AuditReport
    from specdist.model.outcome import Outcome
    from specdist.model.replay_report import ReplayReport
    from specdist.model.report import Report
    from specdist.model.sweep import SweepReport
    from specdist.model.texts import TextsReport


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


def _code_of(outcome: Outcome) -> ExitCode:
    return {
        "passed": ExitCode.PASSED,
        "failed": ExitCode.FAILED,
        "undecided": ExitCode.UNDECIDED,
        "nothing-checked": ExitCode.NOTHING_CHECKED,
    }[outcome.value]


def exit_code(report: Report) -> ExitCode:
    """The exit code of a finished run. When several apply: 2, then 1, 4, 3, 0."""
    from specdist.model.outcome import outcome_of

    return _code_of(outcome_of(report)) if report.sources else ExitCode.NOT_STARTED


def replay_exit_code(report: ReplayReport) -> ExitCode:
    """The exit code of a finished replay, by the same table."""
    from specdist.model.outcome import replay_outcome

    return _code_of(replay_outcome(report))


def audit_exit_code(report: AuditReport) -> ExitCode:
    """The exit code of a finished audit, by the same table."""
    from specdist.model.outcome import audit_outcome

    return _code_of(audit_outcome(report))


def sweep_exit_code(report: SweepReport) -> ExitCode:
    """The exit code of a finished sweep: that of its worst setting, by the same table."""
    codes = {_code_of(point.outcome) for point in report.points}
    order = (ExitCode.FAILED, ExitCode.UNDECIDED, ExitCode.NOTHING_CHECKED, ExitCode.PASSED)
    return next(code for code in order if code in codes)


def texts_exit_code(report: TextsReport) -> ExitCode:
    """The exit code of a comparison of texts; `cli.texts_run` says why it is this one."""
    from specdist.model.texts import Match

    return {
        Match.IDENTICAL: ExitCode.PASSED,
        Match.NEAR_TIE: ExitCode.PASSED,
        Match.OPEN: ExitCode.UNDECIDED,
        Match.UNEXPLAINED: ExitCode.FAILED,
        Match.EMPTY: ExitCode.NOTHING_CHECKED,
    }[report.match]


def forgiven(code: ExitCode) -> ExitCode:
    """``--exit-zero``: a verdict no longer fails the run; not starting or checking nothing does."""
    return ExitCode.PASSED if code in (ExitCode.FAILED, ExitCode.UNDECIDED) else code


def table() -> str:
    """The exit codes as they stand in ``--help``, and their order when several apply."""
    lines = [f"{code.value:>3}  {text}" for code, text in MEANING.items()]
    return "\n".join(["Exit codes; when several apply: 70, 2, 1, 4, 3, 0", *lines])
