"""The best tree for a number of draft tokens: greedy, by the recurrence, and by trying all."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from specdist.cost.tree_sizing import best_tree, best_trees, largest_expected_tokens
from specdist.errors import SettingsError
from specdist.model.draft_tree import ROOT, DraftTree
from tests.oracle_optima import sequoia

SEQ = {
    "SEQ-1": (("1/2", "1/4", "1/8"), 4, "2"),
    "SEQ-2": (("1/2", "1/4", "1/8"), 5, "17/8"),
    "SEQ-3": (("7/10", "1/10"), 5, "27731/10000"),
}


def emitted(tree: DraftTree, acceptance: list[Fraction]) -> Fraction:
    """One token, and every node with the chance that its path is accepted."""
    reach: list[Fraction] = []
    for node, parent in enumerate(tree.parents):
        above = Fraction(1) if parent == ROOT else reach[parent]
        reach.append(above * acceptance[tree.ranks[node]])
    return 1 + sum(reach, Fraction(0))


@pytest.mark.parametrize("name", SEQ)
def test_published_sizes(name: str) -> None:
    texts, nodes, expected = SEQ[name]
    acceptance = list(map(Fraction, texts))
    found = best_tree(acceptance, nodes - 1)
    assert found.expected_tokens == Fraction(expected)
    assert largest_expected_tokens(acceptance, nodes - 1) == Fraction(expected)
    assert emitted(found.tree, acceptance) == Fraction(expected)
    assert found.tree.nodes == nodes - 1


@st.composite
def falling(draw: st.DrawFn) -> list[Fraction]:
    weights = sorted(draw(st.lists(st.integers(0, 9), min_size=1, max_size=4)), reverse=True)
    total = sum(weights) + draw(st.integers(1, 9))
    return [Fraction(weight, total) for weight in weights]


@settings(max_examples=40, deadline=None)
@given(falling(), st.integers(0, 5))
def test_greedy_is_best(acceptance: list[Fraction], draft_tokens: int) -> None:
    every = best_trees(acceptance, draft_tokens)
    for found in every:
        assert found.expected_tokens == emitted(found.tree, acceptance)
        assert found.expected_tokens == sequoia(acceptance, found.tree.nodes + 1)
    most = largest_expected_tokens(acceptance, draft_tokens)
    assert every[-1].expected_tokens == most == sequoia(acceptance, draft_tokens + 1)
    for smaller, larger in pairwise(every):
        assert larger.tree.parents[:-1] == smaller.tree.parents


def test_the_shape_itself() -> None:
    found = best_tree([Fraction(1, 2), Fraction(1, 4), Fraction(1, 8)], 5)
    # Reach 1/2; then 1/4 below it and 1/4 beside it; then 1/8, where the oldest offer goes first.
    assert found.tree.parents == (-1, 0, -1, 1, 0)
    assert best_tree([Fraction(9, 10), Fraction(1, 20)], 4).tree.is_chain


def test_a_limit_of_the_depth() -> None:
    acceptance = [Fraction(9, 10), Fraction(1, 20)]
    flat = best_tree(acceptance, 4, max_depth=1)
    assert flat.tree.parents == (-1, -1)
    assert flat.expected_tokens == 1 + Fraction(19, 20)
    two = best_tree(acceptance, 4, max_depth=2)
    assert two.tree.parents == (-1, 0, -1, 0)
    assert two.expected_tokens == emitted(two.tree, acceptance)


def test_children_that_are_never_accepted_are_not_drafted() -> None:
    assert best_tree([Fraction(0)], 3).tree.nodes == 0
    assert best_tree([], 3).expected_tokens == 1


def test_a_rising_sequence_takes_the_recurrence() -> None:
    """A second child needs the first: the recurrence drafts both where that pays."""
    acceptance = [Fraction(1, 10), Fraction(1, 2)]
    # One child with one below: 1/10 + 1/100; two children: 1/10 + 1/2.
    assert largest_expected_tokens(acceptance, 2) == 1 + Fraction(6, 10)
    with pytest.raises(SettingsError, match="1/2 after 1/10"):
        best_tree(acceptance, 2)


@pytest.mark.parametrize(
    ("acceptance", "draft_tokens", "message"),
    [
        ([Fraction(-1, 2)], 1, "child 1: -1/2"),
        ([Fraction(2, 3), Fraction(2, 3)], 1, "their sum is 4/3"),
        ([Fraction(1, 2)], -1, "-1 draft tokens"),
    ],
)
def test_bad_numbers(acceptance: list[Fraction], draft_tokens: int, message: str) -> None:
    for function in (best_tree, largest_expected_tokens):
        with pytest.raises(SettingsError, match=message):
            function(acceptance, draft_tokens)
