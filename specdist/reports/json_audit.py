"""The JSON report of an audit, ``specdist.audit/1``. Translates the report; computes nothing.

Numbers of a probe have ``exact`` null: what they are is known within the bound of their table only.
"""

from __future__ import annotations

import json
from collections import Counter

from specdist.model.audit_report import (
    AuditReport,
    DraftLine,
    Mode,
    SequenceLine,
    Smallest,
    TableResult,
)
from specdist.model.figure import Figure
from specdist.model.verdict import Verdict
from specdist.reports.json_numbers import Object, number
from specdist.reports.json_report import finding_to_json, plain

SCHEMA = "specdist.audit/1"


def as_json(report: AuditReport, exact: bool) -> str:
    """The whole report as indented JSON."""
    return json.dumps(to_json(report, exact), indent=2) + "\n"


def as_lines(report: AuditReport, exact: bool) -> str:
    """A line for each table, the rest of the report last."""
    whole = to_json(report, exact)
    tables = whole.pop("tables")
    return "".join(json.dumps(item) + "\n" for item in [*tables, whole])


def to_json(report: AuditReport, exact: bool) -> Object:
    """The report as JSON values; ``exact`` spells out fractions of any length."""
    return _Numbers(report, exact).report(report)


class _Numbers:
    """Writes the numbers of one report."""

    def __init__(self, report: AuditReport, exact: bool) -> None:
        self._probed = report.mode is Mode.PROBE
        self._exact = exact

    def one(self, figure: Figure) -> Object:
        if self._probed:
            figure = Figure(figure.approx, None, figure.bound)
        return number(figure, self._exact)

    def largest(self, figures: list[Figure]) -> Object | None:
        most = max(figures, key=lambda figure: figure.approx, default=None)
        return None if most is None else self.one(most)

    def report(self, report: AuditReport) -> Object:
        return {
            "schema": SCHEMA,
            "specdist": report.version,
            "verdict": report.verdict.value,
            "source": report.source,
            "line": report.line or None,
            "mode": report.mode.value,
            "settings": plain(dict(report.settings)),
            "summary": self._summary(report),
            "tables": [self._table(table) for table in report.tables],
            "smallest": None if report.smallest is None else self._smallest(report.smallest),
            "findings": [finding_to_json(each, self._exact) for each in report.findings],
            "grids": list(report.grids),
            "notes": list(report.notes),
            "versions": dict(report.versions),
            "raised": list(report.raised),
            "scope": list(report.scope),
        }

    def _summary(self, report: AuditReport) -> Object:
        counts = Counter(table.verdict for table in report.tables)
        tables = report.tables
        return {
            "tables": len(tables),
            "equal": counts[Verdict.EQUAL],
            "within_tolerance": counts[Verdict.WITHIN_TOLERANCE],
            "different": counts[Verdict.DIFFERENT],
            "undecided": counts[Verdict.UNDECIDED],
            "leaves": sum(table.leaves for table in tables),
            "predicted": report.predicted,
            "runs": report.runs,
            "replays": report.replays,
            "total_variation_max": self.largest([table.total_variation for table in tables]),
            "first_variation_max": self.largest([table.first_variation for table in tables]),
            "outside_max": self.largest([table.outside for table in tables]),
            "raised_max": self.largest([r.mass for table in tables for r in table.raised]),
            "bound_max": self.largest([t.bound for t in tables if t.bound is not None]),
            "unexplored_max": self.largest(
                [t.unexplored for t in tables if t.unexplored is not None]
            ),
        }

    def _table(self, table: TableResult) -> Object:
        return {
            "name": table.name,
            "verdict": table.verdict.value,
            "length": table.length,
            "leaves": table.leaves,
            "total_variation": self.one(table.total_variation),
            "first_variation": self.one(table.first_variation),
            "outside": self.one(table.outside),
            "bound": None if table.bound is None else self.one(table.bound),
            "unexplored": None if table.unexplored is None else self.one(table.unexplored),
            "sequences": table.sequences,
            "lines": [self._line(line) for line in table.lines],
            "raised": [
                {"error": r.error, "place": r.place, "mass": self.one(r.mass)} for r in table.raised
            ],
            "draft": None if table.draft is None else self._draft(table.draft),
            "resembles": list(table.resembles),
        }

    def _line(self, line: SequenceLine) -> Object:
        return {
            "tokens": list(line.tokens),
            "reference": self.one(line.reference),
            "output": self.one(line.output),
            "difference": self.one(line.difference),
        }

    def _draft(self, draft: DraftLine) -> Object:
        return {
            "prefix": list(draft.prefix),
            "handed": [self.one(figure) for figure in draft.handed],
            "drawn": [self.one(figure) for figure in draft.drawn],
            "total_variation": self.one(draft.total_variation),
        }

    def _smallest(self, smallest: Smallest) -> Object:
        return {
            "vocab": smallest.vocab,
            "gamma": smallest.gamma,
            "steps": smallest.steps,
            "table": smallest.table,
            "target": [self.one(figure) for figure in smallest.target],
            "drafted": [self.one(figure) for figure in smallest.drafted],
            "total_variation": self.one(smallest.total_variation),
        }
