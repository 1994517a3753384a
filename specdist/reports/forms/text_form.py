"""The text report without colour."""

from __future__ import annotations

from specdist.model.audit_report import AuditReport
from specdist.model.report import Report
from specdist.reports.forms.form import AnyReport, FormOptions
from specdist.reports.view import View


def render(report: AnyReport, options: FormOptions) -> str:
    """What a terminal shows, 80 columns wide."""
    view = View(options.show, exact=options.exact)
    if isinstance(report, Report):
        from specdist.reports.terminal import render as checked

        return checked(report, view)
    if isinstance(report, AuditReport):
        from specdist.reports.audit_text import render as audited

        return audited(report, view)
    from specdist.reports.replay_text import render as replayed

    return replayed(report, view)
