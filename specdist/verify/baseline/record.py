"""A finished step as far as it is compared with a baseline."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction

from specdist.exact.interval import Interval
from specdist.model.baseline import Measure, StepRecord, What, divided
from specdist.model.figure import Figure
from specdist.model.finding import Severity
from specdist.model.joint_report import JointResult
from specdist.model.partial_report import BoundedPosition
from specdist.model.report import PositionResult, RoleUse, StepResult


def record_of(step: StepResult) -> StepRecord:
    """The record of a step. What the run allows is not loud."""
    loud = (item for item in step.findings if item.severity is not Severity.NOTE)
    return StepRecord(
        step.id,
        step.source,
        step.verdict,
        tuple(_measures(step)),
        frozenset(item.ident for item in step.findings),
        frozenset(item.ident for item in loud if not item.allowed),
        _conditions(step),
    )


def _measures(step: StepResult) -> Iterable[Measure]:
    positions: list[PositionResult | BoundedPosition] = [*step.positions, *step.bounded]
    for position in positions:
        yield Measure(What.VARIATION, position.index, position.total_variation)
        yield Measure(What.ACCEPTANCE, position.index, position.acceptance_rate)
    if step.bonus is not None:
        yield Measure(What.VARIATION, -1, step.bonus.total_variation)
    if step.bounded_bonus is not None:
        yield Measure(What.VARIATION, -1, step.bounded_bonus.total_variation)
    if step.joint is not None:
        yield Measure(What.VARIATION, None, step.joint.total_variation)
        if step.joint.depth:
            yield Measure(What.ACCEPTANCE, None, mean_rate(step.joint))


def mean_rate(joint: JointResult) -> Figure:
    """What is accepted of the draft tokens of the longest path, a token."""
    return divided(joint.expected_accepted, joint.depth)


def interval_of(value: Figure | Interval) -> Interval:
    """Where a number lies, its rounding included."""
    if isinstance(value, Interval):
        return value
    centre, half = centre_of(value), value.bound or Fraction(0)
    if value.exact is None:
        half += _half_unit(value.approx)
    return Interval(centre - half, centre + half)


def centre_of(value: Figure) -> Fraction:
    """The number as it is represented; of a figure without an exact value the nearest float64."""
    return Fraction(value.approx) if value.exact is None else value.exact


def _half_unit(value: float) -> Fraction:
    """No float64 rounds a number by more than this."""
    return max(abs(Fraction(value)) * Fraction(1, 2**53), Fraction(1, 2**1074))


def _conditions(step: StepResult) -> tuple[tuple[str, str], ...]:
    options = sorted(step.options.items())
    return ("rule", step.rule), *options, *(_role(use) for use in _roles(step))


def _roles(step: StepResult) -> Sequence[RoleUse]:
    if step.positions:
        return step.positions[0].roles
    if step.bounded:
        return step.bounded[0].roles
    return () if step.joint is None else step.joint.roles


def _role(use: RoleUse) -> tuple[str, str]:
    return f"role {use.role}", f"{use.side} {use.recipe}"
