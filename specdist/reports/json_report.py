"""The JSON report, ``specdist.report/1``. Translates the report; computes nothing."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from specdist.model.finding import Finding, Smallest
from specdist.model.report import BonusResult, Report, StepResult, Summary
from specdist.reports import cost_text
from specdist.reports.json_baseline import baseline_to_json
from specdist.reports.json_bounded import (
    bounded_bonus_to_json,
    bounded_to_json,
    figure_or_interval,
)
from specdist.reports.json_counters import counters_to_json
from specdist.reports.json_joint import joint_to_json, path_to_json
from specdist.reports.json_numbers import Object, number, optional
from specdist.reports.json_position import position_to_json

SCHEMA = "specdist.report/1"


def to_json(report: Report, exact: bool) -> Object:
    """The whole report as JSON values; ``exact`` spells out fractions of any length."""
    head, tail = _frame(report, exact)
    return {**head, "steps": [step_to_json(step, exact) for step in report.steps], **tail}


def summary_to_json(report: Report, exact: bool) -> Object:
    """The report without its steps: the last line of JSON lines."""
    head, tail = _frame(report, exact)
    return {**head, **tail}


def _frame(report: Report, exact: bool) -> tuple[Object, Object]:
    head: Object = {
        "schema": SCHEMA,
        "specdist": report.version,
        "verdict": report.verdict.value,
        "settings": plain(report.settings),
        "summary": _summary(report.summary, exact),
        "read_as": list(report.read_as),
        "in_force": list(report.in_force),
    }
    tail: Object = {
        "findings": [finding_to_json(finding, exact) for finding in report.findings],
        "counters": [counters_to_json(item, exact) for item in report.counters],
        "baseline": baseline_to_json(report.baseline, exact),
        "unreadable": [asdict(item) for item in report.unreadable],
        "not_captures": list(report.not_captures),
        "filtered_out": report.filtered_out,
        "floors_missed": list(report.floors_missed),
        "raised": list(report.raised),
        "scope": list(report.scope),
    }
    return head, tail


def step_to_json(step: StepResult, exact: bool) -> Object:
    """One step: an element of ``steps``, and one line of JSON lines."""
    return {
        "id": step.id,
        "source": step.source,
        "rule": step.rule,
        "options": dict(step.options),
        "verdict": step.verdict.value,
        "mean_acceptance_length": figure_or_interval(
            step.mean_acceptance_length, step.length_bounds, exact
        ),
        "positions": [position_to_json(position, exact) for position in step.positions],
        "bounded": [bounded_to_json(position, exact) for position in step.bounded],
        "bonus": None if step.bonus is None else _bonus(step.bonus, exact),
        "bounded_bonus": bounded_bonus_to_json(step.bounded_bonus, exact),
        "joint": joint_to_json(step.joint, exact),
        "path": path_to_json(step.path, exact),
        "cost": cost_text.to_json(step.cost, exact),
        "findings": [finding_to_json(finding, exact) for finding in step.findings],
    }


def _summary(summary: Summary, exact: bool) -> Object:
    return {
        "steps": summary.steps,
        "positions": summary.positions,
        "equal": summary.equal,
        "within_tolerance": summary.within_tolerance,
        "different": summary.different,
        "undecided": summary.undecided,
        "allowed": summary.allowed,
        "acceptance_rate": figure_or_interval(
            summary.acceptance_rate, summary.acceptance_bounds, exact
        ),
        "total_variation_max": figure_or_interval(
            summary.total_variation_max, summary.variation_bounds, exact
        ),
        "drafts_optimum": optional(summary.drafts_optimum, exact),
    }


def _bonus(bonus: BonusResult, exact: bool) -> Object:
    return {
        "verdict": bonus.verdict.value,
        "vocab_size": bonus.vocab_size,
        "total_variation": number(bonus.total_variation, exact),
        "roles": [asdict(use) for use in bonus.roles],
        "tokens": [
            {
                "id": token.id,
                "text": token.text,
                "reference": number(token.reference, exact),
                "output": number(token.output, exact),
            }
            for token in bonus.tokens
        ],
    }


def finding_to_json(finding: Finding, exact: bool) -> Object:
    """A finding of any report."""
    return {
        "ident": finding.ident,
        "severity": finding.severity.value,
        "message": finding.message,
        "position": finding.position,
        "notes": list(finding.notes),
        "repairs": [list(repair) for repair in finding.repairs],
        "cause": list(finding.cause),
        "smallest": _smallest(finding.smallest, exact),
        "reproduce": finding.reproduce,
        "allowed": finding.allowed,
    }


def _smallest(smallest: Smallest | None, exact: bool) -> Object | None:
    if smallest is None:
        return None
    return {
        "tokens": list(smallest.tokens),
        "total_variation": number(smallest.total_variation, exact),
        "reproduce": smallest.reproduce,
    }


def plain(value: object) -> Any:
    """Settings as JSON values: fractions as texts, sets sorted, enums by value."""
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, frozenset | set):
        return sorted(str(item) for item in value)
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if value is None or isinstance(value, bool | int | float):
        return value
    return str(value)
