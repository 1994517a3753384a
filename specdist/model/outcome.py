"""What a finished run means to a pipeline: one word, a function of the report alone."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING

from specdist.model.finding import Severity
from specdist.model.replay_report import ReplayVerdict
from specdist.model.verdict import Verdict

if TYPE_CHECKING:
    from specdist.model.audit_report import AuditReport
    from specdist.model.finding import Finding
    from specdist.model.replay_report import ReplayReport
    from specdist.model.report import Report


class Outcome(StrEnum):
    """Of a run or of one case in it; ``allowed`` is a case that differs and does not fail."""

    PASSED = "passed"
    FAILED = "failed"
    ALLOWED = "allowed"
    UNDECIDED = "undecided"
    NOTHING_CHECKED = "nothing-checked"


def outcome_of(report: Report) -> Outcome:
    """The outcome of a check. When several apply: failed, undecided, nothing checked, passed."""
    counts = report.summary
    broken = any(item.counts for item in report.unreadable)
    accused = report.raised or any(accuses(finding) for finding in report.findings)
    if counts.different > counts.allowed or report.floors_missed or broken or accused:
        return Outcome.FAILED
    if counts.undecided or report.verdict is Verdict.UNDECIDED:
        return Outcome.UNDECIDED
    return Outcome.PASSED if counts.steps else Outcome.NOTHING_CHECKED


def replay_outcome(report: ReplayReport) -> Outcome:
    """The outcome of a replay."""
    if report.raised:
        return Outcome.FAILED
    return {
        ReplayVerdict.CONTRADICTED: Outcome.FAILED,
        ReplayVerdict.UNDECIDED: Outcome.UNDECIDED,
        ReplayVerdict.NOTHING_CHECKED: Outcome.NOTHING_CHECKED,
        ReplayVerdict.CONSISTENT: Outcome.PASSED,
    }[report.verdict]


def audit_outcome(report: AuditReport) -> Outcome:
    """The outcome of an audit. A law that differs fails it, unless all errors are allowed."""
    errors = [f for f in report.findings if f.severity is Severity.ERROR or f.allowed]
    if report.raised or any(map(accuses, errors)):
        return Outcome.FAILED
    if report.verdict is Verdict.DIFFERENT:
        return Outcome.PASSED if errors else Outcome.FAILED
    if report.verdict is Verdict.UNDECIDED:
        return Outcome.UNDECIDED
    return Outcome.PASSED if report.tables else Outcome.NOTHING_CHECKED


def accuses(finding: Finding) -> bool:
    """Whether a finding by itself makes a run fail."""
    return finding.severity is Severity.ERROR and not finding.allowed
