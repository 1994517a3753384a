"""Faults of published torch loops, rebuilt: a draw that raises, a seed set before every test.

Needs the extra ``engines``.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import pytest
import torch

from specdist.audit import case
from specdist.audit.context import Setup
from specdist.audit.measure import Measured, measure
from specdist.audit.program import Program
from specdist.audit.tables import Table
from tests.oracle_packages import DRAFT, TARGET, first_token, token_rule, variation


def loop(
    drawn: Callable[[torch.Tensor], int], before_test: Callable[[], object] = lambda: None
) -> Callable[[], list[int]]:
    """A step of the textbook that draws its tokens with ``drawn``."""

    def step() -> list[int]:
        tokens: list[int] = []
        for _ in range(case.gamma):
            tokens.append(drawn(case.draft(tokens)))
        case.propose(tokens)
        target, draft = case.target_rows(), case.draft_rows()
        for i, token in enumerate(tokens):
            before_test()
            if torch.rand(1) >= target[i, token] / draft[i, token]:
                return [*tokens[:i], drawn((target[i] - draft[i]).clamp(min=0))]
        return [*tokens, drawn(target[-1])]

    return step


def drawn_at_will(weights: torch.Tensor) -> int:
    return int(torch.multinomial(weights, 1).item())


def never_zero(weights: torch.Tensor) -> int:
    """Token 0 for an error, as a published loop has it (feifeibear's, at 59a209d)."""
    token = drawn_at_will(weights)
    if token == 0:
        raise RuntimeError("token 0 was drawn")
    return token


def walked(step: Callable[[], object], gamma: int) -> Measured:
    table = Table("one pair of rows", 3, lambda _: TARGET, lambda _: DRAFT)
    return measure(Program(step, Setup(gamma=gamma, steps=1), table), 10_000)


@pytest.mark.parametrize("gamma", [1, 2])
def test_the_loop_itself_has_the_law_of_the_rule(gamma: int) -> None:
    """These rows and quotients are exact in float32, and so is the law."""
    assert walked(loop(drawn_at_will), gamma).emitted == token_rule(TARGET, DRAFT, gamma)


def test_a_raise_is_an_outcome_with_its_probability() -> None:
    """By hand: both drafts are no 0 and stand with (1/4 + 1/4)^2, the bonus is no 0 with 1/2."""
    found = walked(loop(never_zero), 2)
    assert sum(found.raised.values()) == Fraction(7, 8)
    assert {error for _, error, _ in found.raised} == {"RuntimeError: token 0 was drawn"}
    assert sum(found.emitted.values()) == Fraction(1, 8)


@pytest.mark.parametrize(
    ("seed", "first"),
    [
        (1, (Fraction(3, 4), Fraction(0), Fraction(1, 4))),  # the uniform is 0.7576: never kept
        (3, DRAFT),  # the uniform is 0.0043: always kept
    ],
)
def test_a_seed_before_every_test_makes_its_uniform_a_constant(
    seed: int, first: tuple[Fraction, ...]
) -> None:
    found = walked(loop(drawn_at_will, lambda: torch.manual_seed(seed)), 1).emitted
    assert first_token(found, 3) == first
    shortened = {(token,): share for token, share in enumerate(first)}
    assert variation(shortened, TARGET) == Fraction(1, 4)
