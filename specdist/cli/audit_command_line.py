"""The line that shows a finding of an audit again: its smallest case, as a command."""

from __future__ import annotations

from dataclasses import replace
from shlex import quote
from typing import TYPE_CHECKING

from specdist.cli.audit_options import Asked

if TYPE_CHECKING:
    from specdist.model.audit_report import AuditReport
    from specdist.model.finding import Finding

_ALWAYS = ("vocab", "gamma", "tables", "steps")
_DEFAULT = Asked()


def reproduced(report: AuditReport, asked: Asked) -> AuditReport:
    """The report with a line to paste at every finding but notes."""
    from specdist.model.finding import Severity
    from specdist.reports.audit_lesson import is_of_exceptions

    whole = command(report.source, asked)
    line = command(report.source, _smallest(report, asked))

    def shown_by(finding: Finding) -> str | None:
        if finding.severity is Severity.NOTE:
            return None
        of_law = finding.ident == "output-mismatch" and not is_of_exceptions(report, finding)
        return line if of_law else whole

    findings = tuple(replace(each, reproduce=shown_by(each)) for each in report.findings)
    return replace(report, findings=findings)


def _smallest(report: AuditReport, asked: Asked) -> Asked:
    """The smallest case that shows a difference, with the tables up to its own."""
    found = report.smallest
    if found is None:
        return asked
    names = [table.name for table in report.tables]
    count = names.index(found.table) + 1 if found.table in names else asked.tables
    return replace(asked, vocab=found.vocab, gamma=found.gamma, steps=found.steps, tables=count)


def command(source: str, asked: Asked) -> str:
    """``specdist audit FILE.py:step --vocab 2 ...``: what decides the case, and what is not the
    default."""
    words = ["specdist audit", quote(source)]
    for name, value in asked.shown.items():
        usual = name not in _ALWAYS and value == getattr(_DEFAULT, name, None)
        if not usual and name != "framework":
            words.append(f"--{name} {quote(str(value))}")
    return " ".join(words)
