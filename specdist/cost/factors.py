"""What the expected tokens of a step are worth under stated costs.

Sources: Leviathan et al., arXiv 2211.17192, theorem 3.8 (walltime), corollary 3.9 (when it can
improve) and theorem 3.11 (operations); MagicDec, arXiv 2408.11049 (verification with a
cost of its own); SmartSpec, arXiv 2406.14066 (goodput). The unit of every cost is one target step
of one token.
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction

ONE = Fraction(1)


def step_cost(draft_steps: int, draft_cost: Fraction, verify_cost: Fraction = ONE) -> Fraction:
    """``g c + v``: g draft steps of cost c and one verification of cost v. It is also the
    break-even: a step pays iff it emits more tokens, ``E > (T_draft + T_verify) / T_target``."""
    return draft_steps * draft_cost + verify_cost


def walltime_factor(
    expected: Fraction, draft_steps: int, draft_cost: Fraction, verify_cost: Fraction = ONE
) -> Fraction:
    """``E / (g c + v)``: tokens a second over those of plain decoding; v = 1 in the source."""
    return expected / step_cost(draft_steps, draft_cost, verify_cost)


def time_ratio(
    expected: Fraction, draft_steps: int, draft_cost: Fraction, verify_cost: Fraction = ONE
) -> Fraction:
    """``(g T_D/T_T + T_V(g)/T_T) / E``: time a token over that of plain decoding, the inverse of
    `walltime_factor` as MagicDec writes it."""
    return step_cost(draft_steps, draft_cost, verify_cost) / expected


def operations_factor(
    expected: Fraction, draft_operations: Fraction, drafted: int, verified: int
) -> Fraction:
    """``(n c^ + n + 1) / E``: operations a token over those of plain decoding. ``drafted`` tokens
    cost c^ each, ``verified`` draft tokens and one more pass through the target (a chain of draft
    length g has g of both)."""
    return (drafted * draft_operations + verified + 1) / expected


def can_improve(first_acceptance: Fraction, draft_cost: Fraction) -> bool:
    """Whether some draft length has a walltime factor above 1, for v = 1: ``a > c``.

    ``E(g) - 1 <= g a_1``, because no survival is above the first, and at g = 1 it is equal. So
    ``E(g) > g c + 1`` for some g exactly where ``a_1 > c``, also for acceptances that change with
    the position or the context. Source: arXiv 2211.17192, corollary 3.9.
    """
    return first_acceptance > draft_cost


def goodput(expected: Iterable[Fraction], step_time: Fraction) -> Fraction:
    """``sum_r E_r / T``: tokens a second of all requests that share a step of time T, the accepted
    and the bonus tokens. Source: SmartSpec, arXiv 2406.14066."""
    return sum(expected, Fraction(0)) / step_time
