"""The JSON report: ``specdist.report/1``, ``specdist.replay/1`` of recorded steps, or
``specdist.audit/1`` of a real sampler."""

from __future__ import annotations

import json

from specdist.model.audit_report import AuditReport
from specdist.model.report import Report
from specdist.reports.forms.form import AnyReport, FormOptions


def render(report: AnyReport, options: FormOptions) -> str:
    """Indented JSON with a line break at its end."""
    if isinstance(report, Report):
        from specdist.reports.json_report import to_json

        return json.dumps(to_json(report, options.exact), indent=2) + "\n"
    if isinstance(report, AuditReport):
        from specdist.reports import json_audit

        return json_audit.as_json(report, options.exact)
    from specdist.reports.json_replay import as_json

    return as_json(report, options.exact)
