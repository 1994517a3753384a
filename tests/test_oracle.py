"""The oracle itself against published numbers and identities (it imports nothing of specdist)."""

from __future__ import annotations

import ast
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given

from tests import oracle, strategies
from tests.vectors import load

STANDARD = load("STD")


@pytest.mark.parametrize("vector", STANDARD, ids=lambda vector: vector["id"])
def test_standard_vectors(vector: dict) -> None:
    position = oracle.token_rule(vector["inputs"]["p"], vector["inputs"]["q"])
    expected = vector["expected"]
    assert position.accepted == expected["accepted"]
    assert position.residual == expected["residual"]
    assert position.output == expected["law"]
    assert position.acceptance == expected["alpha"]
    assert position.total_variation == expected["tv"] == 0


@given(strategies.pairs())
def test_the_correct_rule_reproduces_the_target(pair: strategies.Pair) -> None:
    target, draft = pair
    position = oracle.token_rule(target, draft)
    assert position.output == target
    assert position.acceptance == 1 - oracle.total_variation(target, draft)


@given(strategies.pairs(max_size=3), strategies.pairs(max_size=3), strategies.rows(max_size=3))
def test_a_block_of_independent_rows_is_lossless(
    first: strategies.Pair, second: strategies.Pair, bonus: list[Fraction]
) -> None:
    targets, drafts = zip(first, second, strict=True)
    block = oracle.block(targets, drafts, bonus)
    assert block.law == oracle.joint([*targets, bonus])
    rates = [1 - oracle.total_variation(*pair) for pair in (first, second)]
    assert block.tokens == 1 + rates[0] + rates[0] * rates[1]


def test_a_published_block_law() -> None:
    """Two-token toy of 2403.10444, token verification: 10/9 accepted tokens of two drafted."""
    target, draft = [Fraction(1, 3), Fraction(2, 3)], [Fraction(2, 3), Fraction(1, 3)]
    assert oracle.block([target] * 2, [draft] * 2, target).tokens == 1 + Fraction(10, 9)


def test_processing_by_hand() -> None:
    row = [Fraction(1, 4), Fraction(1, 2), Fraction(3, 16), Fraction(1, 16)]
    assert oracle.top_p(row, Fraction(9, 10)) == [
        Fraction(4, 15),
        Fraction(8, 15),
        Fraction(1, 5),
        0,
    ]
    assert oracle.top_p(row, Fraction(3, 4)) == [Fraction(1, 3), Fraction(2, 3), 0, 0], (
        "3/4 is reached, not exceeded"
    )
    assert oracle.top_k([Fraction(1, 4)] * 4, 2) == [Fraction(1, 4)] * 4, (
        "ties of the second are kept"
    )
    assert oracle.min_p(row, Fraction(1, 2)) == [Fraction(1, 3), Fraction(2, 3), 0, 0]
    assert oracle.temperature(row, Fraction(0)) == [0, 1, 0, 0]
    halved = [Fraction(1, 2), Fraction(1, 3), Fraction(1, 6)]
    assert oracle.temperature(halved, Fraction(1, 2)) == [
        Fraction(9, 14),
        Fraction(2, 7),
        Fraction(1, 14),
    ]


def test_it_imports_nothing_of_specdist() -> None:
    tree = ast.parse(Path(oracle.__file__).read_text(encoding="utf-8"))
    names = [
        name
        for node in ast.walk(tree)
        for name in (
            [alias.name for alias in node.names]
            if isinstance(node, ast.Import)
            else [node.module or ""]
            if isinstance(node, ast.ImportFrom)
            else []
        )
    ]
    assert names
    assert not [name for name in names if name.split(".")[0] in {"specdist", "numpy"}]
