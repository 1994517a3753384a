"""The JSON report, ``specdist.report/1``. Translates the report; computes nothing."""

from __future__ import annotations

import math
from dataclasses import asdict
from fractions import Fraction
from typing import Any

from specdist.model.figure import Figure
from specdist.model.finding import Finding
from specdist.model.report import (
    BonusResult,
    PositionResult,
    Report,
    StepResult,
    Summary,
    TokenLine,
)
from specdist.reports.figure_text import fraction

SCHEMA = "specdist.report/1"
_LONGEST_DENOMINATOR = 10**200

Object = dict[str, Any]


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
    }
    tail: Object = {
        "findings": [_finding(finding) for finding in report.findings],
        "unreadable": [asdict(item) for item in report.unreadable],
        "not_captures": list(report.not_captures),
        "filtered_out": report.filtered_out,
        "floors_missed": list(report.floors_missed),
        "scope": list(report.scope),
    }
    return head, tail


def step_to_json(step: StepResult, exact: bool) -> Object:
    """One step: an element of ``steps``, and one line of JSON lines."""
    return {
        "id": step.id,
        "source": step.source,
        "rule": step.rule,
        "verdict": step.verdict.value,
        "mean_acceptance_length": _optional(step.mean_acceptance_length, exact),
        "positions": [_position(position, exact) for position in step.positions],
        "bonus": None if step.bonus is None else _bonus(step.bonus, exact),
        "findings": [_finding(finding) for finding in step.findings],
    }


def number(figure: Figure, exact: bool) -> Object:
    """``{"exact": "7/10", "approx": 0.7}``, with ``bound`` and ``symbolic`` where there is one."""
    value = figure.exact
    if value is not None and not exact and value.denominator >= _LONGEST_DENOMINATOR:
        value = None
    shown: Object = {"exact": None if value is None else fraction(value), "approx": figure.approx}
    if figure.bound is not None:
        shown["bound"] = _upwards(figure.bound)
    if figure.symbolic is not None:
        shown["symbolic"] = figure.symbolic
    return shown


def _upwards(value: Fraction) -> float:
    """The smallest float64 that is not below the bound."""
    nearest = float(value)
    return nearest if Fraction(nearest) >= value else math.nextafter(nearest, math.inf)


def _optional(figure: Figure | None, exact: bool) -> Object | None:
    return None if figure is None else number(figure, exact)


def _summary(summary: Summary, exact: bool) -> Object:
    return {
        "steps": summary.steps,
        "positions": summary.positions,
        "equal": summary.equal,
        "within_tolerance": summary.within_tolerance,
        "different": summary.different,
        "undecided": summary.undecided,
        "allowed": summary.allowed,
        "acceptance_rate": _optional(summary.acceptance_rate, exact),
        "total_variation_max": _optional(summary.total_variation_max, exact),
    }


def _position(position: PositionResult, exact: bool) -> Object:
    return {
        "index": position.index,
        "verdict": position.verdict.value,
        "vocab_size": position.vocab_size,
        "acceptance_rate": number(position.acceptance_rate, exact),
        "reference_acceptance_rate": number(position.reference_acceptance_rate, exact),
        "rejected_mass": number(position.rejected_mass, exact),
        "total_variation": number(position.total_variation, exact),
        "roles": [asdict(use) for use in position.roles],
        "tokens": [_token(token, exact) for token in position.tokens],
    }


def _token(token: TokenLine, exact: bool) -> Object:
    masses = ("reference", "drafted", "tested", "accepted")
    return {
        "id": token.id,
        "text": token.text,
        **{name: number(getattr(token, name), exact) for name in masses},
        "residual": _optional(token.residual, exact),
        "recovered": number(token.recovered, exact),
        "output": number(token.output, exact),
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


def _finding(finding: Finding) -> Object:
    return {
        "ident": finding.ident,
        "severity": finding.severity.value,
        "message": finding.message,
        "position": finding.position,
        "notes": list(finding.notes),
        "repairs": [list(repair) for repair in finding.repairs],
        "reproduce": finding.reproduce,
        "allowed": finding.allowed,
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
