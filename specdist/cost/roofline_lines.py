"""The cost lines of a roofline: a factor for each batch, and where a pass turns compute-bound."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import partial

from specdist.cost import roofline
from specdist.cost.budget import best_budget
from specdist.cost.draft_length import best_length
from specdist.cost.length_lines import length_lines
from specdist.cost.wording import NOT_MEASURED, brief, scaled
from specdist.model.cost import Roofline
from specdist.model.figure import Figure
from specdist.model.joint_report import CostLine

_MOST_BUDGET = 20_000
"""Draft tokens of a batch among which the best budget is looked for."""


def lines(
    expected: Figure, steps: int, drafted: int, device: Roofline, draft_cost: Fraction | None
) -> list[CostLine]:
    """Factor and tokens a second at each batch for a step of ``steps`` draft steps that verifies
    ``drafted`` draft tokens and one more token of every sequence; last the crossover batch."""
    assumed = assumption(device, draft_cost)
    found = []
    for batch in device.batches:
        plain = roofline.pass_time(device, batch, batch)
        tokens = batch * (drafted + 1)
        spent = roofline.drafting_time(device, steps, batch, draft_cost or Fraction(0))
        spent += roofline.pass_time(device, tokens, batch)
        bound = "memory" if roofline.memory_bound(device, tokens, batch) else "compute"
        text = f"{bound}-bound, {NOT_MEASURED}"
        factor = scaled(expected, plain / spent)
        found.append(CostLine(f"batch {batch}: walltime factor", factor, text, assumed))
        rate = scaled(expected, batch / spent)
        text = f"without a draft {float(batch / plain):.6g}, {NOT_MEASURED}"
        found.append(CostLine(f"batch {batch}: tokens a second", rate, text, assumed))
    return [*found, _crossover(device, drafted + 1, assumed)]


def best_lines(
    survivals: Sequence[Fraction],
    length: int | None,
    device: Roofline,
    draft_cost: Fraction | None,
    listed: bool,
) -> list[CostLine]:
    """At each batch the draft length of largest factor and, of a draft length that is given, how
    many draft tokens of the whole batch are worth verifying."""
    assumed = assumption(device, draft_cost)
    found = []
    for batch in device.batches:
        cost = partial(_cost, device, batch, draft_cost or Fraction(0))
        best = best_length(survivals, cost, listed=listed)
        found += length_lines(best, len(survivals), f"batch {batch}: ", assumed)
        if length is not None and batch * length <= _MOST_BUDGET:
            found.append(_budget(survivals[:length], device, batch, draft_cost, assumed))
    return found


def assumption(device: Roofline, draft_cost: Fraction | None) -> str:
    """What every line of a roofline rests on."""
    drafting = (
        "drafts on the same roofline"
        if device.has_draft
        else f"a draft step costs {brief(draft_cost or Fraction(0))} of a target step at its batch"
    )
    return (
        "a pass takes the longer of moving weights and cache and of computing its tokens, plus "
        f"the overhead; every sequence has the same law of tokens; {drafting}"
    )


def _cost(device: Roofline, batch: int, draft_cost: Fraction, length: int) -> Fraction:
    """A step of that draft length at that batch, over a plain step."""
    spent = roofline.drafting_time(device, length, batch, draft_cost)
    spent += roofline.pass_time(device, batch * (length + 1), batch)
    return spent / roofline.pass_time(device, batch, batch)


def _budget(
    survivals: Sequence[Fraction],
    device: Roofline,
    batch: int,
    draft_cost: Fraction | None,
    assumed: str,
) -> CostLine:
    drafting = roofline.drafting_time(device, len(survivals), batch, draft_cost or Fraction(0))
    every = (survival for survival in survivals for _ in range(batch))
    budget = best_budget(
        batch, every, drafting, lambda count: roofline.pass_time(device, batch + count, batch)
    )
    text = f"of {batch * len(survivals)} that are drafted"
    return CostLine(f"batch {batch}: draft tokens to verify", Figure.of(budget), text, assumed)


def _crossover(device: Roofline, tokens_each: int, assumed: str) -> CostLine:
    batch = roofline.crossover_batch(device, tokens_each)
    if batch is None:
        text = "none: verification is memory-bound at every batch"
        return CostLine("crossover batch", None, text, assumed)
    text = "verification is compute-bound above it"
    return CostLine("crossover batch", Figure.of(batch), text, assumed)
