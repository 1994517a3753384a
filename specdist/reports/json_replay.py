"""The JSON report of a replay, ``specdist.replay/1``. Translates the report; computes nothing."""

from __future__ import annotations

import json
from fractions import Fraction

from specdist.exact.interval import Interval
from specdist.model.counters import CounterFigure, Counters
from specdist.model.figure import Figure
from specdist.model.replay_report import CheckCount, Event, ReplayFinding, ReplayReport, StepLine
from specdist.model.trace_evidence import (
    Counterfactual,
    EmittedLaw,
    Evidence,
    Explanation,
    Hypothesis,
)
from specdist.reports.json_numbers import Object, number, optional
from specdist.reports.json_report import plain

SCHEMA = "specdist.replay/1"


def as_json(report: ReplayReport, exact: bool) -> str:
    """The whole report as indented JSON."""
    return json.dumps(to_json(report, exact), indent=2) + "\n"


def as_lines(report: ReplayReport, exact: bool) -> str:
    """A line for each step, the rest of the report last."""
    whole = to_json(report, exact)
    steps = whole.pop("steps")
    return "".join(json.dumps(item) + "\n" for item in [*steps, whole])


def to_json(report: ReplayReport, exact: bool) -> Object:
    """The report as JSON values."""
    return {
        "schema": SCHEMA,
        "specdist": report.version,
        "verdict": report.verdict.value,
        "source": report.source,
        "reader": report.reader,
        "settings": plain(dict(report.settings)),
        "facts": [{"name": name, "value": value} for name, value in report.facts],
        "roles": [{"role": role, "recipe": recipe} for role, recipe in report.roles],
        "steps": [_step(step) for step in report.steps],
        "checks": [_check(check) for check in report.checks],
        "findings": [_finding(found, report, exact) for found in report.findings],
        "counters": {
            **_counters(report.counters),
            "figures": [_figure(figure, exact) for figure in report.figures],
        },
        "reported": [_counters(item) for item in report.reported],
        "explanation": _explanation(report.explanation, exact),
        "evidence": [_evidence(item) for item in report.evidence],
        "counterfactuals": [_counterfactual(item, exact) for item in report.counterfactuals],
        "raised": list(report.raised),
        "scope": list(report.scope),
    }


def _step(step: StepLine) -> Object:
    return {
        "source": step.source,
        "sequence": step.sequence,
        "step": step.step,
        "drafted": step.drafted,
        "accepted": step.accepted,
        "emitted": step.emitted,
        "final": step.kind.value,
    }


def _check(check: CheckCount) -> Object:
    return {
        "name": check.name,
        "agreed": check.agreed,
        "differed": check.differed,
        "undecided": check.undecided,
        "unchecked": [{"reason": r, "count": n} for r, n in check.unchecked.items()],
    }


def _finding(found: ReplayFinding, report: ReplayReport, exact: bool) -> Object:
    finding = found.finding
    return {
        "ident": finding.ident,
        "severity": finding.severity.value,
        "message": finding.message,
        "notes": list(finding.notes),
        "cause": list(finding.cause),
        "reproduce": finding.reproduce,
        "allowed": finding.allowed,
        "events": [_event(event, report, exact) for event in found.events],
    }


def _event(event: Event, report: ReplayReport, exact: bool) -> Object:
    text = None if event.token is None else report.texts.get(event.token)
    return {
        "id": event.id,
        "source": event.source,
        "sequence": event.sequence,
        "step": event.step,
        "position": event.position,
        "what": event.what.value,
        "token": event.token,
        "text": text,
        "recorded": event.recorded,
        "possible": event.possible,
        "interval": _interval(event.interval, exact),
    }


def _interval(interval: Interval | None, exact: bool) -> Object | None:
    if interval is None:
        return None
    return {"least": _number(interval.least, exact), "most": _number(interval.most, exact)}


def _number(value: Fraction, exact: bool) -> Object:
    return number(Figure.of(value), exact)


def _counters(counters: Counters) -> Object:
    return {
        "source": counters.source,
        "title": counters.title,
        "steps": counters.steps,
        "draft_tokens": counters.draft_tokens,
        "accepted": counters.accepted,
        "written": counters.written,
        "accepted_at": _list(counters.accepted_at),
        "histogram": _list(counters.histogram),
    }


def _list(values: tuple[int, ...] | None) -> list[int] | None:
    return None if values is None else list(values)


def _figure(figure: CounterFigure, exact: bool) -> Object:
    return {
        "definition": figure.rate.value,
        "position": figure.position,
        "value": _number(figure.value, exact),
    }


def _explanation(explanation: Explanation | None, exact: bool) -> Object | None:
    if explanation is None:
        return None
    return {
        "contradicted": explanation.contradicted,
        "tried": explanation.tried,
        "causes": [_hypothesis(cause, exact) for cause in explanation.causes],
    }


def _hypothesis(cause: Hypothesis, exact: bool) -> Object:
    return {
        "name": cause.name,
        "ident": cause.ident,
        "statement": cause.statement,
        "parameters": [{"name": name, "value": value} for name, value in cause.parameters],
        "predicted": cause.predicted,
        "open": cause.open,
        "lossless": cause.lossless,
        "laws": [_law(law, exact) for law in cause.laws],
    }


def _law(law: EmittedLaw, exact: bool) -> Object:
    return {
        "source": law.source,
        "sequence": law.sequence,
        "step": law.step_index,
        "position": law.position,
        "kind": law.kind,
        "total_variation": number(law.total_variation, exact),
        "shifts": [
            {
                "token": shift.token,
                "output": number(shift.output, exact),
                "reference": number(shift.reference, exact),
            }
            for shift in law.shifts
        ],
    }


def _evidence(item: Evidence) -> Object:
    return {
        "subject": item.subject,
        "ident": item.ident,
        "statement": item.statement,
        "observations": item.observations,
        "log10": item.log10 if abs(item.log10) < float("inf") else None,
        "level": str(item.level),
        "share": str(item.share),
        "refuted": item.refuted,
    }


def _counterfactual(item: Counterfactual, exact: bool) -> Object:
    return {
        "label": item.label,
        "condition": item.condition,
        "steps": item.steps,
        "without_rows": item.without_rows,
        "impossible": item.impossible,
        "declared_rate": optional(item.declared_rate, exact),
        "other_rate": optional(item.other_rate, exact),
        "declared_length": optional(item.declared_length, exact),
        "other_length": optional(item.other_length, exact),
        "positions": [
            {
                "step": position.step,
                "index": position.index,
                "token": position.token,
                "declared": number(position.declared, exact),
                "other": number(position.other, exact),
                "declared_chance": optional(position.declared_chance, exact),
                "other_chance": optional(position.other_chance, exact),
            }
            for position in item.positions
        ],
    }
