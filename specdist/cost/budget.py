"""How many draft tokens of a batch are worth verifying together, given the cost of a pass."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from fractions import Fraction


def best_budget(
    requests: int,
    survivals: Iterable[Fraction],
    draft_cost: Fraction,
    verify_cost: Callable[[int], Fraction],
) -> int:
    """``argmax over B of (N + S_1 + ... + S_B) / (draft_cost + verify_cost(B))``, the least of
    equals.

    ``survivals`` are the chances of all draft tokens of all N requests to be accepted, falling;
    ``verify_cost(B)`` is the cost of a pass over the N requests with B draft tokens among them.
    It must be convex: then the budget is raised as long as
    ``S_{B+1} cost(B) > (N + S_1 + ... + S_B) (cost(B+1) - cost(B))``, cost = draft_cost +
    verify_cost, and no later raise can pay. The form is that of vLLM's load-aware scheduling of
    speculative tokens.
    """
    expected, budget = Fraction(requests), 0
    now = draft_cost + verify_cost(0)
    for survival in survivals:
        then = draft_cost + verify_cost(budget + 1)
        if survival * now <= expected * (then - now):
            break
        expected, budget, now = expected + survival, budget + 1, then
    return budget
