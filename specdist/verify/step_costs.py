"""What a verified step costs: the cost lines of its exact expected tokens and law of tokens."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

from specdist.model.capture import Step
from specdist.model.cost import CostSettings
from specdist.model.figure import Figure
from specdist.model.joint_report import CostLine
from specdist.model.report import StepResult
from specdist.model.settings import CheckSettings

_PATH = "rows along one drafted path do not determine the expected tokens of a step"
_BATCH = "expected tokens of several requests together are not those of one"
_OPEN = "the exact acceptance of this step is not known"


def with_costs(result: StepResult, step: Step, settings: CheckSettings) -> StepResult:
    """The result with its cost lines, where costs were given or times were captured.

    Raises SettingsError where the costs that were given do not cover this step.
    """
    options = settings.cost or CostSettings()
    if not options.asked and step.times is None:
        return result
    expected = _expected(result)
    if expected is None or expected.exact is None:
        return replace(result, cost=_undetermined(result, step))
    from specdist.cost.lines import cost_lines

    masses = _accepted_lengths(result, expected.exact)
    joint = result.joint
    lines = cost_lines(
        expected,
        None if masses is None else _tokens_law(masses),
        1 if joint is None else joint.depth,
        options,
        draft_tokens=1 if joint is None else joint.nodes,
        times=step.times,
        law_bound=None if masses is None else _bound(masses),
    )
    return replace(result, cost=lines)


def _expected(result: StepResult) -> Figure | None:
    """Tokens of the step; None where what was checked does not determine them."""
    if result.joint is None:
        return result.mean_acceptance_length
    return None if result.joint.requests else result.joint.expected_tokens


def _accepted_lengths(result: StepResult, expected: Fraction) -> tuple[Figure, ...] | None:
    """``Pr(i draft tokens are accepted)`` for i = 0, 1, ...; None where a step may emit fewer
    tokens than one more than that, so that this is no law of tokens."""
    if result.joint is not None:
        masses = result.joint.accepted_length
    else:
        rate, recovered = result.positions[0].acceptance_rate, result.positions[0].recovered_mass
        if rate.exact is None or recovered.exact != 1 - rate.exact:
            return None
        masses = (Figure.of(1 - rate.exact, rate.bound), rate)
    tokens = [(i + 1) * (mass.exact or 0) for i, mass in enumerate(masses)]
    return masses if sum(tokens, Fraction(0)) == expected else None


def _tokens_law(masses: Sequence[Figure]) -> dict[int, Fraction]:
    return {i + 1: mass.exact or Fraction(0) for i, mass in enumerate(masses)}


def _bound(masses: Sequence[Figure]) -> Fraction | None:
    """How far the law may lie from that of the real-valued softmax, over all lengths."""
    bounds = [mass.bound for mass in masses if mass.bound is not None]
    return sum(bounds, Fraction(0)) if bounds else None


def _undetermined(result: StepResult, step: Step) -> tuple[CostLine, ...]:
    """A line that says why there are no figures, and what the measured times say by themselves."""
    joint = result.joint
    why = _PATH if len(result.positions) > 1 else _OPEN
    why = _BATCH if joint is not None and joint.requests else why
    from specdist.cost.lines import measured_lines

    line = CostLine("walltime factor", None, f"not determined: {why}", "")
    return (line,) if step.times is None else (line, *measured_lines(None, step.times))
