"""The outline of an audit: a case is a table; findings are those of the run, for each speaks of
the table that shows it most."""

from __future__ import annotations

from functools import partial

from specdist.model.audit_report import AuditReport, TableResult
from specdist.model.finding import Finding, Severity
from specdist.model.outcome import Outcome, accuses, audit_outcome
from specdist.model.verdict import Verdict
from specdist.reports import audit_lesson, audit_text
from specdist.reports.audit_words import Sizes, worst
from specdist.reports.outline import Case, Figures, Outline, Told
from specdist.reports.view import View


def of_audit(report: AuditReport, view: View) -> Outline:
    """The outline of an audit."""
    most = worst(report)
    sizes = Sizes.of(report, view.numerals)
    figures: Figures = ()
    if most is not None:
        figures = (("largest total variation", sizes.known(most.total_variation)),)
    return Outline(
        command="audit",
        version=report.version,
        verdict=report.verdict.value,
        outcome=audit_outcome(report),
        headline="; ".join(audit_text.summary(report, view)),
        cases=tuple(_case(report, table, sizes) for table in report.tables),
        findings=tuple(_told(report, finding, view) for finding in report.findings),
        sources=(file_of(report),),
        figures=figures,
        facts=tuple(f"{name}: {text}" for name, text in audit_text.facts_of(report)),
        scope=report.scope,
        settings=report.settings,
    )


def file_of(report: AuditReport) -> str:
    """The adapter's file, or the name of its module."""
    return report.source.rpartition(":")[0] or report.source


def _place(report: AuditReport, table: TableResult | None) -> str:
    """``FILE.py, line 7, step, table a zero in the draft``."""
    file = file_of(report)
    line = f", line {report.line}" if report.line else ""
    named = "" if table is None else f", table {table.name}"
    return f"{file}{line}{report.source.removeprefix(file).replace(':', ', ', 1)}{named}"


def _case(report: AuditReport, table: TableResult, sizes: Sizes) -> Case:
    figures = {
        "total variation": table.total_variation,
        "of the first token": table.first_variation,
        "outside the target": table.outside,
    }
    return Case(
        table.name,
        file_of(report),
        _place(report, table),
        table.verdict.value,
        _outcome(report, table),
        figures=tuple((name, sizes.known(figure)) for name, figure in figures.items()),
    )


def _outcome(report: AuditReport, table: TableResult) -> Outcome:
    """A table that differs fails where the run does; otherwise it is allowed."""
    if table.verdict is Verdict.DIFFERENT:
        failed = audit_outcome(report) is Outcome.FAILED
        return Outcome.FAILED if failed else Outcome.ALLOWED
    return Outcome.UNDECIDED if table.verdict is Verdict.UNDECIDED else Outcome.PASSED


def _told(report: AuditReport, finding: Finding, view: View) -> Told:
    table = audit_lesson.table_of(report, finding)
    quiet = finding.severity is Severity.NOTE
    make = audit_lesson.note if quiet else partial(audit_lesson.lesson, report)
    return Told(
        finding,
        file_of(report),
        "",
        _place(report, table),
        lambda: "\n".join(make(finding, view)),
        accuses(finding),
        0.0 if table is None else table.total_variation.approx,
    )
