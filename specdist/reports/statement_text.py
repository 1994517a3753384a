"""What is said of a run beside its verdict: numeric model, lossy rules, draft tokens that drop."""

from __future__ import annotations

from collections.abc import Iterator

from specdist.model.report import PositionResult, Report, StepResult
from specdist.model.verdict import Verdict
from specdist.reports import layout
from specdist.reports.rule_text import is_lossy, is_mistake
from specdist.reports.view import View, inner_place, is_zero

_INDENT = "    "
_LUCKY = "lossy by design: equal for these rows only, not for any rows"
_DROPPED = ("length", "keep", "dropped", "proposal", "keep-when")


def lines(report: Report, view: View) -> list[str]:
    """A paragraph for each thing that holds for these steps; empty for the token rule alone."""
    said = [
        _numeric_model(report),
        _lossy(report, view),
        _mistaken(report),
        *_proposal(report, view),
    ]
    return [line for text in said if text for line in layout.wrap(text, _INDENT, _INDENT + "    ")]


def _numeric_model(report: Report) -> str:
    """``numeric model: uniform 8, inequality inclusive``; of the first step where they differ."""
    found = [_words(step, dropped=False) for step in report.steps]
    return _first(found, "numeric model: ")


def _words(step: StepResult, dropped: bool) -> str:
    return ", ".join(
        f"{name} {text}".replace("unnormalised yes", "unnormalised rows")
        for name, text in step.options.items()
        if (name in _DROPPED) is dropped
    )


def _first(found: list[str], label: str) -> str:
    known = dict.fromkeys(text for text in found if text)
    if not known:
        return ""
    others = "" if len(dict.fromkeys(found)) == 1 else " (other steps differ)"
    return f"{label}{next(iter(known))}{others}"


def _located(report: Report) -> Iterator[tuple[StepResult, PositionResult]]:
    return ((step, position) for step in report.steps for position in step.positions)


def _where(report: Report, step: StepResult, position: PositionResult) -> str:
    one = report.summary.positions == 1
    return "" if one else f" (step {step.id}{inner_place(position.index)})"


def _lossy(report: Report, view: View) -> str:
    """The figures of the position that a lossy rule changes most."""
    found = [(s, p, p.lossy) for s, p in _located(report) if p.lossy is not None]
    whole = {step.rule for step in report.steps if step.joint and step.verdict is Verdict.EQUAL}
    if not found:
        return _LUCKY if any(map(is_lossy, whole)) else ""
    if all(is_zero(position.total_variation) for _, position, _ in found):
        return _LUCKY
    step, position, lossy = max(found, key=lambda item: item[1].total_variation.approx)
    rate = view.numerals.rate
    return (
        f"lossy by design: total variation {rate(position.total_variation)}, least possible "
        f"{rate(lossy.least_total_variation)}, excess {rate(lossy.excess)}"
        + _where(report, step, position)
    )


def _mistaken(report: Report) -> str:
    """A rule that is a known mistake, where it went well."""
    rules = {step.rule for step in report.steps if step.verdict is Verdict.EQUAL}
    if not any(map(is_mistake, rules)):
        return ""
    return "the rule is a known mistake: equal for these rows only, not for any rows"


def _proposal(report: Report, view: View) -> Iterator[str]:
    """How much reaches the test where it is least, and the rule that drops the rest."""
    yield _first([_words(step, dropped=True) for step in report.steps], "draft tokens: ")
    found = [(s, p, p.proposal) for s, p in _located(report) if p.proposal is not None]
    if not found:
        return
    step, position, proposal = min(found, key=lambda item: item[2].reaching_mass.approx)
    rate = view.numerals.rate
    accepted = proposal.accepted_of_reaching
    share = "" if accepted is None else f"; of those that are tested {rate(accepted)} is accepted"
    least = "" if report.summary.positions == 1 else "at least "
    yield (
        f"a draft token is kept with probability {least}{rate(proposal.reaching_mass)}{share}"
        + _where(report, step, position)
    )
