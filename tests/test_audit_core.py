"""The core of audits: every branch once, exact masses, laws of code with `random` and numpy."""

from __future__ import annotations

import random
from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest

from specdist.audit import case, draw
from specdist.audit.context import Setup
from specdist.audit.cost import predicted
from specdist.audit.refusals import AdapterError, AuditError, BudgetError, NotAFunctionError
from specdist.audit.run import Audit
from specdist.audit.tables import tables
from specdist.audit.tree import Session, leaves
from specdist.model.verdict import Verdict

HALF = Fraction(1, 2)


def drafted() -> list[int]:
    return [draw.categorical(case.draft()) for _ in range(case.gamma)]


def one_step(below: Callable[[float], bool], residual: Callable[..., object]) -> list[int]:
    """One step: the textbook's test with these draws."""
    tokens = drafted()
    target, draft = case.target_rows(), case.draft_rows()
    for i, token in enumerate(tokens):
        if not below(float(target[i][token]) / float(draft[i][token])):
            return [*tokens[:i], draw.categorical(residual(target[i], draft[i]))]
    return [*tokens, draw.categorical(target[-1])]


def positive_part(target: np.ndarray, draft: np.ndarray) -> np.ndarray:
    return np.maximum(target - draft, 0)


def textbook() -> list[int]:
    return one_step(lambda ratio: random.random() < ratio, positive_part)


def from_target() -> list[int]:
    return one_step(lambda ratio: random.random() < ratio, lambda target, draft: target)


class ReusedUniform:
    """One number for all tests of a run."""

    def __init__(self) -> None:
        self.uniform = np.random.default_rng(0).random()

    def __call__(self) -> list[int]:
        return one_step(lambda ratio: self.uniform < ratio, positive_part)


def audited(adapter: Callable[[], object], **setup: int) -> Audit:
    return Audit(adapter, "x.py:step", Setup(framework="numpy", **{"vocab": 3, **setup}), count=2)


def test_every_branch_is_a_leaf_and_masses_sum_to_one() -> None:
    def program(session: Session) -> tuple[int, ...]:
        first = session.choose("first", (HALF, Fraction(1, 3), Fraction(1, 6)))
        return (first, session.choose("second", (HALF, HALF))) if first else (first,)

    found = list(leaves(program))
    assert [leaf.outcome for leaf in found] == [(0,), (1, 0), (1, 1), (2, 0), (2, 1)]
    assert sum(leaf.mass for leaf in found) == 1
    assert found[1].mass == Fraction(1, 6)


def test_branches_without_mass_are_not_taken() -> None:
    found = list(leaves(lambda session: session.choose("x", (Fraction(0), Fraction(1)))))
    assert [(leaf.outcome, leaf.mass) for leaf in found] == [(1, Fraction(1))]


def test_a_program_that_asks_something_else_is_no_function_of_its_draws() -> None:
    calls = [0]

    def program(session: Session) -> int:
        calls[0] += 1
        return session.choose(f"draw {calls[0]}", (HALF, HALF))

    with pytest.raises(NotAFunctionError, match="not a function of its draws"):
        list(leaves(program))


def test_leaves_beyond_the_budget_are_refused() -> None:
    with pytest.raises(BudgetError):
        list(leaves(lambda s: [s.choose(f"{i}", (HALF, HALF)) for i in range(4)], budget=10))


@pytest.mark.parametrize("vocab", [2, 3, 7, 32])
def test_tables_are_laws_in_sixty_fourths(vocab: int) -> None:
    for table in tables(vocab, 8):
        for prefix in ((), (1,), (0, 1)):
            for row in (table.target(prefix), table.draft(prefix)):
                assert len(row) == vocab
                assert sum(row) == 1
                assert all((64 * mass).denominator == 1 and mass >= 0 for mass in row)


def test_the_textbook_is_lossless_up_to_the_grid_of_its_uniforms() -> None:
    report = audited(textbook, gamma=2, steps=1).report()
    assert report.verdict is Verdict.WITHIN_TOLERANCE
    assert all(result.total_variation.exact <= Fraction(1, 2**50) for result in report.tables)
    setup = Setup(vocab=3, gamma=2, steps=1)
    assert report.predicted == predicted(setup, tables(3, 2))
    assert sum(result.leaves for result in report.tables) <= report.predicted


def test_recovery_from_the_target_is_found_with_its_exact_variation() -> None:
    """By hand: the law of the first token is min(p, q) + (1 - sum min) p."""
    report = audited(from_target, gamma=1, steps=1).report()
    assert report.verdict is Verdict.DIFFERENT
    for table, result in zip(tables(3, 2), report.tables, strict=True):
        p, q = table.target(()), table.draft(())
        overlap = sum(map(min, p, q))
        law = [min(a, b) + (1 - overlap) * a for a, b in zip(p, q, strict=True)]
        expected = sum(abs(x - a) for x, a in zip(law, p, strict=True)) / 2
        assert abs(result.first_variation.exact - expected) < Fraction(1, 2**50)
    assert report.smallest is not None
    assert (report.smallest.gamma, report.smallest.steps) == (1, 1)


def test_a_uniform_that_is_reused_shows_only_over_several_tests() -> None:
    assert audited(ReusedUniform, gamma=1, steps=1).report().verdict is Verdict.WITHIN_TOLERANCE
    report = audited(ReusedUniform, gamma=1, steps=2).report()
    assert report.verdict is Verdict.DIFFERENT
    assert report.smallest is not None
    assert report.smallest.steps == 2


@pytest.mark.parametrize(
    ("adapter", "said"),
    [
        (lambda: [1], "draws nothing"),
        (lambda: (drafted(), [])[1], "returned no token"),
        (lambda: [draw.categorical([1, 1]), 3], "outside the vocabulary"),
        (lambda: (drafted(), "ab")[1], "no tokens"),
        (lambda: (drafted(), 1 / 0), "raises whatever is drawn"),
        (lambda: [draw.categorical([0, 0, 0])], "no law"),
        (lambda: [int(random.gauss(0, 1))], "random.gauss"),
        (lambda: [int(float(random.random()))], "the value of a uniform"),
        (lambda: [int(random.random() < random.random())], "comparing two uniforms"),
    ],
)
def test_what_cannot_be_audited_is_refused(adapter: Callable[[], object], said: str) -> None:
    with pytest.raises(AuditError) as refused:
        audited(adapter, gamma=1, steps=1).report()
    assert said in str(refused.value)


def test_code_that_sees_no_rows_is_not_held_against_them() -> None:
    """A table that the code never saw says nothing of it: neither a pass nor an accusation."""
    with pytest.raises(AdapterError, match="asks for no rows"):
        audited(lambda: [draw.categorical([1, 1, 2])], gamma=1, steps=1).report()


def test_case_and_draw_are_nothing_outside_of_an_audit() -> None:
    with pytest.raises(AdapterError):
        _ = case.gamma
    with pytest.raises(AdapterError):
        draw.categorical([1, 1])
