"""The HTML report: one self-contained page with pictures."""

from __future__ import annotations

from specdist.model.report import Report
from specdist.reports.forms.form import AnyReport, FormOptions


def render(report: AnyReport, options: FormOptions) -> str:
    """The page. Raises TypeError for a replay, which the registry of forms does not offer."""
    if not isinstance(report, Report):
        raise TypeError("a replay is not written as html")
    from specdist.reports.html.report_page import report_page

    return report_page(report, options)
