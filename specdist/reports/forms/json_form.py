"""The JSON report: ``specdist.report/1``, or ``specdist.replay/1`` of recorded steps."""

from __future__ import annotations

import json

from specdist.model.report import Report
from specdist.reports.forms.form import AnyReport, FormOptions


def render(report: AnyReport, options: FormOptions) -> str:
    """Indented JSON with a line break at its end."""
    if isinstance(report, Report):
        from specdist.reports.json_report import to_json

        return json.dumps(to_json(report, options.exact), indent=2) + "\n"
    from specdist.reports.json_replay import as_json

    return as_json(report, options.exact)
