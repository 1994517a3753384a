"""JSON lines: one step a line while the run goes on, the summary last."""

from __future__ import annotations

import json

from specdist.errors import SpecdistError
from specdist.model.report import Report, StepResult
from specdist.reports.error_text import error_to_json
from specdist.reports.json_report import step_to_json, summary_to_json


def step_line(step: StepResult, exact: bool) -> str:
    """One finished step, with its line break."""
    return json.dumps(step_to_json(step, exact)) + "\n"


def summary_line(report: Report, exact: bool) -> str:
    """The report without its steps, with its line break."""
    return json.dumps(summary_to_json(report, exact)) + "\n"


def error_line(error: SpecdistError) -> str:
    """The line that ends a run which could not go on."""
    return json.dumps(error_to_json(error)) + "\n"
