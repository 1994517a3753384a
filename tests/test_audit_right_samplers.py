"""Right samplers are never accused, nor named."""

from __future__ import annotations

from fractions import Fraction

import pytest

from specdist.audit.tables import tables
from specdist.model.verdict import Verdict
from tests import oracle_audit as oracle
from tests.audit_mutant_audits import audited
from tests.audit_right_samplers import RIGHT


@pytest.mark.parametrize("name", RIGHT)
@pytest.mark.parametrize(("gamma", "steps", "count"), [(2, 1, 8), (1, 2, 3)])
def test_a_right_sampler_is_not_accused(name: str, gamma: int, steps: int, count: int) -> None:
    report = audited(RIGHT[name], gamma, steps, count)
    assert report.verdict in (Verdict.EQUAL, Verdict.WITHIN_TOLERANCE)
    for result in report.tables:
        assert result.total_variation.exact < Fraction(1, 2**40)
        assert result.resembles == ()


@pytest.mark.parametrize("rule", [oracle.token_rule(), oracle.block_rule()])
def test_the_oracle_has_right_rules_right(rule: oracle.Rule) -> None:
    for table in tables(3, 2):
        pair = oracle.Pair(table.target, table.draft, 3, 2)
        assert oracle.distance(oracle.walked(pair, rule, 2), pair) == 0


def test_the_oracle_knows_the_published_block_example() -> None:
    """2403.10444: p = (1/3, 2/3), q = (2/3, 1/3), two draft tokens: 10/9 by tokens, 11/9 by blocks;
    stopping at the first failure is wrong by 1/3."""
    p, q = (Fraction(1, 3), Fraction(2, 3)), (Fraction(2, 3), Fraction(1, 3))
    pair = oracle.Pair(lambda z: p, lambda z: q, 2, 2)

    def accepted(rule: oracle.Rule) -> Fraction:
        law = oracle.walked(pair, rule, 1)
        return sum((mass * (len(z) - 1) for z, mass in law.items()), Fraction(0))

    assert accepted(oracle.token_rule()) == Fraction(10, 9)
    assert accepted(oracle.block_rule()) == Fraction(11, 9)
    wrong = oracle.walked(pair, oracle.block_rule(coins="first tails"), 1)
    assert oracle.distance(wrong, pair) == Fraction(1, 3)


def test_the_oracle_knows_wrong_blocks_on_the_pair_that_shows_them() -> None:
    """p = (9/20, 9/20, 1/10), q = (1/20, 3/20, 4/5): one coin 1/200, the token rule's residual
    3/1400, in the joint law of two tokens."""
    p = (Fraction(9, 20), Fraction(9, 20), Fraction(1, 10))
    q = (Fraction(1, 20), Fraction(3, 20), Fraction(4, 5))
    pair = oracle.Pair(lambda z: p, lambda z: q, 3, 2)
    wrong = {
        oracle.distance(oracle.walked(pair, oracle.block_rule(coins="one number"), 1), pair),
        oracle.distance(oracle.walked(pair, oracle.block_rule(scaled=False), 1), pair),
    }
    assert wrong == {Fraction(1, 200), Fraction(3, 1400)}


def test_a_number_for_every_draw_is_the_rule_itself() -> None:
    for table in tables(3, 2):
        pair = oracle.Pair(table.target, table.draft, 3, 1)
        law = oracle.on_intervals(pair, 2, lambda kind, step, i: (kind, step, i))
        assert law == oracle.walked(pair, oracle.token_rule(), 2)
