"""The cost lines of a step: what its expected tokens are worth, and what each figure assumes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from specdist.cost import factors, roofline_lines
from specdist.cost.target_calls import calls_bounds, expected_calls, is_quick
from specdist.cost.wording import NOT_MEASURED, brief, relative_costs, scaled, several
from specdist.errors import SettingsError
from specdist.model.cost import CONDITIONS, Basis, CostSettings, StepTimes
from specdist.model.figure import Figure
from specdist.model.joint_report import CostLine


@dataclass(frozen=True, slots=True)
class Shape:
    """A proposal: ``steps`` draft steps one after the other, ``tokens`` draft tokens to verify. A
    chain has as many of both; a tree drafts a level in one step."""

    steps: int
    tokens: int


def cost_lines(
    expected_tokens: Figure | Fraction,
    tokens_law: Mapping[int, Fraction] | None,
    draft_length: int,
    options: CostSettings,
    *,
    draft_tokens: int | None = None,
    times: StepTimes | None = None,
    law_bound: Fraction | None = None,
) -> tuple[CostLine, ...]:
    """Everything that ``options`` and ``times`` ask of one step.

    ``expected_tokens``: tokens of the step, bonus token included; ``tokens_law``: Pr(the step emits
    k tokens), None where that is not known; ``draft_length``: draft steps one after the other (the
    depth of a tree); ``draft_tokens``: the tokens that are verified, where they are not as many;
    ``law_bound``: how far the law may lie from that of the real-valued softmax, summed over k.
    Raises `SettingsError` where the costs do not cover this step.
    """
    expected = expected_tokens
    if not isinstance(expected, Figure):
        expected = Figure.of(expected)
    shape = Shape(draft_length, draft_length if draft_tokens is None else draft_tokens)
    lines = [] if times is None else [*measured_lines(expected, times)]
    if expected.exact is None:
        return tuple(lines)
    if options.draft_cost is not None:
        lines += _walltime(expected, shape, options.draft_cost, options)
    if options.draft_operations is not None:
        lines.append(_operations(expected, shape, options.draft_operations))
    if options.output_tokens is not None and tokens_law is not None:
        lines += _calls(tokens_law, options.output_tokens, law_bound)
    if options.roofline is not None:
        lines += roofline_lines.lines(
            expected, shape.steps, shape.tokens, options.roofline, options.draft_cost
        )
    return tuple(lines)


def verify_cost(options: CostSettings, drafted: int) -> Fraction:
    """What a verification of that many draft tokens costs, in target steps; 1 unless it was said.

    Raises `SettingsError` where costs were listed, and not for so many tokens.
    """
    listed = options.verify_cost
    if listed is None or drafted == 0:
        return factors.ONE
    if len(listed) == 1:
        return listed[0]
    if drafted > len(listed):
        raise SettingsError(
            f"verify-cost has {len(listed)} numbers, and {several(drafted, 'draft token')} are "
            "verified",
            expected="one number, or one for each number of draft tokens from 1 on",
        )
    return listed[drafted - 1]


def _walltime(
    expected: Figure, shape: Shape, draft_cost: Fraction, options: CostSettings
) -> list[CostLine]:
    verified = verify_cost(options, shape.tokens)
    cost = factors.step_cost(shape.steps, draft_cost, verified)
    assumes = f"{relative_costs(draft_cost, verified)}, and nothing else takes time"
    lines = [
        CostLine("break-even tokens a step", Figure.of(cost), "", assumes),
        CostLine("walltime factor", scaled(expected, 1 / cost), NOT_MEASURED, assumes),
    ]
    if options.verify_cost is not None and expected.exact and expected.bound is None:
        ratio = factors.time_ratio(expected.exact, shape.steps, draft_cost, verified)
        lines.append(CostLine("time a token", Figure.of(ratio), NOT_MEASURED, assumes))
    return lines


def _operations(expected: Figure, shape: Shape, draft_operations: Fraction) -> CostLine:
    tokens = expected.exact or factors.ONE
    value = factors.operations_factor(tokens, draft_operations, shape.tokens, shape.tokens)
    assumes = (
        f"a draft token takes {brief(draft_operations)} of the operations of a target token, and "
        "every draft token is verified; operations are not time"
    )
    slack = expected.bound or Fraction(0)
    return _over("operations factor", value, tokens, slack, NOT_MEASURED, assumes)


def _calls(law: Mapping[int, Fraction], tokens: int, law_bound: Fraction | None) -> list[CostLine]:
    """Expected target calls; bounds where the exact number would take too long."""
    expected = sum((k * mass for k, mass in law.items()), Fraction(0))
    assumes = (
        "every step has the law of tokens of this one, independent of the others, and the last "
        "step may emit more than is needed"
    )
    name = f"target calls for {several(tokens, 'token')}"
    low, high = calls_bounds(expected, max(law), tokens)
    slack = max(law) * (law_bound or Fraction(0))
    if not is_quick(law, tokens):
        text = "the exact number takes long"
        return [
            _over(f"{name}, at least", low, expected, slack, text, assumes),
            _over(f"{name}, at most", high, expected, slack, text, assumes),
        ]
    exact = expected_calls(law, tokens)
    # R(n) moves by at most d R'(N) more than the mean move of R(n - k), d the move of the law in
    # all; over the steps of an output that is d R'(N) R(N), and R'(N) is at most N.
    bound = None if law_bound is None else law_bound * tokens * exact
    per_step = f"{several(tokens, 'token')} over expected tokens"
    text = "too low by what the last step emits in vain"
    ratio = _over(per_step, low, expected, slack, text, assumes)
    return [CostLine(name, Figure.of(exact, bound), "", assumes), ratio]


def _over(
    name: str, quotient: Fraction, divisor: Fraction, slack: Fraction, text: str, assumes: str
) -> CostLine:
    """The line of a quotient whose divisor may be off by ``slack``; without a figure where that
    leaves nothing of it."""
    if slack >= divisor:
        why = "not determined: nothing is known of the expected tokens, whose rows were rounded"
        return CostLine(name, None, why, assumes)
    return CostLine(name, Figure.of(quotient, quotient * slack / (divisor - slack)), text, assumes)


def measured_lines(expected: Figure | None, times: StepTimes) -> tuple[CostLine, ...]:
    """``(T_draft + T_verify) / T_target``, and E over it where the expected tokens are known:
    measured where the capture names all conditions of the times, else unmeasured."""
    whole = (times.draft + times.verify) / times.target
    target, draft, verify = (
        f"{float(time):.6g} {times.unit}" for time in (times.target, times.draft, times.verify)
    )
    spent = f"times of the capture: a target step {target}, drafting {draft}, verification {verify}"
    spent += "".join(f"; {CONDITIONS[key]}: {text}" for key, text in times.conditions.items())
    spent += "" if expected is None else "; tokens as expected of this step"
    basis, why = Basis.MEASURED, ""
    if times.missing:
        absent = ", ".join(CONDITIONS[key] for key in times.missing)
        basis, why = Basis.UNMEASURED, f"unmeasured: the times do not name {absent}"
    text = f"tokens a step{'; ' if why else ''}{why}"
    names = ("measured break-even", "measured walltime factor")
    if times.missing:
        names = ("break-even by the times", "walltime factor by the times")
    lines = [CostLine(names[0], Figure.of(whole), text, spent, basis)]
    if expected is not None:
        lines.append(CostLine(names[1], scaled(expected, 1 / whole), why, spent, basis))
    return tuple(lines)
