"""JSON lines: a step (of an audit: a table) a line, the rest of the report last."""

from __future__ import annotations

from specdist.model.audit_report import AuditReport
from specdist.model.report import Report
from specdist.reports.forms.form import AnyReport, FormOptions


def render(report: AnyReport, options: FormOptions) -> str:
    """The same lines that ``--format jsonl`` writes while a run goes on."""
    if isinstance(report, Report):
        from specdist.reports.jsonl_report import step_line, summary_line

        lines = [step_line(step, options.exact) for step in report.steps]
        return "".join([*lines, summary_line(report, options.exact)])
    if isinstance(report, AuditReport):
        from specdist.reports import json_audit

        return json_audit.as_lines(report, options.exact)
    from specdist.reports.json_replay import as_lines

    return as_lines(report, options.exact)
