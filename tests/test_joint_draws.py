"""How draft tokens come about: every way of drawing siblings against its naive definition."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import permutations, product

import pytest

from specdist.errors import SettingsError
from specdist.exact.bounded import OpenComparisonError, bounded
from specdist.model.draft_tree import ROOT, SIBLINGS, DraftTree, Siblings
from specdist.model.role import Role
from specdist.rules.joint.draws import child_draws, draw_count, proposal_count, proposals

Row = tuple[Fraction, ...]
ONE = Fraction(1)
WEIGHTS = (0, 0, 1, 1, 2, 3)


@dataclass
class Drafters:
    """A row for every prefix and drafter, made when it is asked for."""

    chance: random.Random
    size: int
    possible: int = 1
    drafters: int = 1

    def __post_init__(self) -> None:
        self.rows: dict[tuple[tuple[int, ...], int], Row] = {}
        self.one_hot: frozenset[Role] = frozenset()

    def law(self, role: Role, prefix: tuple[int, ...], rank: int = 0) -> Row:
        assert role is Role.DRAFTED_FROM
        key = prefix, rank % self.drafters
        while key not in self.rows:
            weights = [self.chance.choice(WEIGHTS) for _ in range(self.size)]
            if sum(weight > 0 for weight in weights) >= self.possible:
                self.rows[key] = tuple(Fraction(weight, sum(weights)) for weight in weights)
        return self.rows[key]


class Fixed:
    """The same rows everywhere, one for each drafter."""

    one_hot: frozenset[Role] = frozenset()

    def __init__(self, *rows: Sequence[str | int]) -> None:
        self.rows = [tuple(map(Fraction, row)) for row in rows]
        self.size = len(self.rows[0])

    def law(self, role: Role, prefix: tuple[int, ...], rank: int = 0) -> Row:
        return self.rows[rank % len(self.rows)]


def star(children: int, siblings: Siblings, tokens: tuple[int, ...] | None = None) -> DraftTree:
    return DraftTree((ROOT,) * children, siblings, tokens=tokens)


def best(row: Row, but: Sequence[int] = ()) -> int:
    return next(y for y in sorted(range(len(row)), key=lambda y: (-row[y], y)) if y not in but)


def naive(siblings: str, rows: Sequence[Row]) -> Mapping[tuple[int, ...], Fraction]:
    """The law of the children, tuple by tuple over the whole vocabulary."""
    size, n = len(rows[0]), len(rows)
    found: dict[tuple[int, ...], Fraction] = {}
    for xs in product(range(size), repeat=n):
        mass = ONE
        for i, x in enumerate(xs):
            earlier = xs[:i]
            left = 1 - sum(rows[i][y] for y in set(earlier))
            if siblings == "iid":
                mass *= rows[i][x]
            elif siblings == "top" or (siblings == "top-then-sampled" and i < n - 1):
                mass *= int(x == best(rows[i], earlier))
            else:
                mass *= 0 if x in earlier else rows[i][x] / left
        if mass:
            found[xs] = mass
    return found


@pytest.mark.parametrize("siblings", ["iid", "without-replacement", "top", "top-then-sampled"])
@pytest.mark.parametrize("children", [1, 2, 3])
@pytest.mark.parametrize("drafters", [1, 3])
def test_draws_of_children(siblings: Siblings, children: int, drafters: int) -> None:
    chance = random.Random(children)
    tree = star(children, siblings)
    for _ in range(40):
        laws = Drafters(chance, 4, possible=3, drafters=drafters)
        rows = [laws.law(Role.DRAFTED_FROM, (), rank) for rank in range(children)]
        try:
            expected = naive(siblings, rows)
        except ZeroDivisionError:
            with pytest.raises(SettingsError, match='prefix ""'):
                list(child_draws(tree, ROOT, (), laws))
            continue
        drawn = list(child_draws(tree, ROOT, (), laws))
        assert dict(drawn) == expected
        assert len(drawn) == len(expected) <= draw_count(tree, ROOT, 4)
        assert sum(expected.values()) == 1


def test_pairs_with_a_hub() -> None:
    """x ~ q; (x, h), or (h, y) with y ~ q without h."""
    chance = random.Random(5)
    for _ in range(60):
        laws = Drafters(chance, 4, possible=2)
        row = laws.law(Role.DRAFTED_FROM, ())
        hub = best(row)
        expected = {(x, hub): row[x] for x in range(4) if x != hub and row[x]}
        expected |= {
            (hub, y): row[hub] * row[y] / (1 - row[hub]) for y in range(4) if y != hub and row[y]
        }
        drawn = list(child_draws(star(2, "hub"), ROOT, (), laws))
        assert dict(drawn) == expected
        assert sum(mass for _, mass in drawn) == 1
        pairs: dict[frozenset[int], Fraction] = {}
        for pair, mass in drawn:
            pairs[frozenset(pair)] = pairs.get(frozenset(pair), Fraction(0)) + mass
        greedy = dict(child_draws(star(2, "top-then-sampled"), ROOT, (), laws))
        assert pairs == {frozenset(pair): mass for pair, mass in greedy.items()}


def test_equal_probabilities_go_to_the_lower_id() -> None:
    laws = Fixed(["1/5", "2/5", "0", "2/5"])
    assert list(child_draws(star(3, "top"), ROOT, (), laws)) == [((1, 3, 0), 1)]
    assert list(child_draws(star(4, "top"), ROOT, (), laws)) == [((1, 3, 0, 2), 1)]
    assert {pair[1] for pair, _ in child_draws(star(2, "hub"), ROOT, (), laws) if pair[0] != 1} == {
        1
    }


def test_rounded_rows_keep_their_ties_and_their_zeros() -> None:
    """Equal weights that are rounded are ties all the same, and what is forbidden stays so."""
    laws = Fixed(["3/8", "0", "3/8", "1/4"])
    laws.rows = [bounded(laws.rows[0], Fraction(1, 10**12))]
    assert [tokens for tokens, _ in child_draws(star(2, "top"), ROOT, (), laws)] == [(0, 2)]
    pairs = [tokens for tokens, _ in child_draws(star(2, "hub"), ROOT, (), laws)]
    assert pairs == [(2, 0), (0, 2), (3, 0), (0, 3)]
    with pytest.raises(SettingsError, match="child 4"):
        list(child_draws(star(4, "without-replacement"), ROOT, (), laws))
    near = Fixed(["1/2", "1/4", "1/4"])
    near.rows = [(Fraction(1, 2), *bounded((Fraction(1, 4) + Fraction(1, 10**15), Fraction(1, 4)),
                                           Fraction(1, 10**12)))]  # fmt: skip
    with pytest.raises(OpenComparisonError):
        list(child_draws(star(2, "top"), ROOT, (), near))


@pytest.mark.parametrize("siblings", SIBLINGS)
def test_a_leaf_draws_nothing(siblings: Siblings) -> None:
    tree = star(2, siblings, (0, 1))
    laws = Fixed(["1/2", "1/2", "0"])
    assert list(child_draws(tree, 0, (0,), laws)) == [((), 1)]
    nothing = DraftTree((), siblings, tokens=())
    assert [(drafted.tokens, mass) for drafted, mass in proposals(nothing, laws)] == [((), 1)]
    assert proposal_count(nothing, laws) == 1


def test_given_tokens_whatever_the_rows() -> None:
    tree = DraftTree((ROOT, ROOT, 0), "given", tokens=(2, 2, 1))
    laws = Fixed(["1/2", "1/2", "0"])
    assert [(drafted.tokens, mass) for drafted, mass in proposals(tree, laws)] == [((2, 2, 1), 1)]
    assert proposal_count(tree, laws) == 1


REFUSED = {
    "no token left": (star(3, "without-replacement"), ["1/2", "1/2", "0"], "child 3"),
    "nothing outside the top": (star(2, "top-then-sampled"), ["0", "1", "0"], "child 2"),
    "nothing outside the hub": (star(2, "hub"), ["0", "1", "0"], "child 2"),
    "a hub with three children": (star(3, "hub"), ["1/2", "1/4", "1/4"], "3 children"),
    "a hub with one child": (star(1, "hub"), ["1/2", "1/4", "1/4"], "1 child,"),
    "more children than tokens": (star(4, "top"), ["1/2", "1/4", "1/4"], "vocabulary has: 3"),
    "a token outside the vocabulary": (star(1, "given", (3,)), ["1/2", "1/4", "1/4"], "token 3"),
    "a negative token": (star(1, "given", (-1,)), ["1/2", "1/4", "1/4"], "token -1"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_a_tree_that_the_rows_cannot_fill(case: str) -> None:
    tree, row, words = REFUSED[case]
    with pytest.raises(SettingsError) as raised:
        list(child_draws(tree, ROOT, (), Fixed(row)))
    assert words in raised.value.message
    assert 'the prefix ""' in raised.value.message
    assert raised.value.expected
    assert raised.value.advice


def test_the_first_prefix_that_fails_is_named() -> None:
    tree = DraftTree.levels((1, 2), "without-replacement")
    laws = Drafters(random.Random(0), 3)
    laws.rows = {
        ((), 0): (Fraction(1, 2), Fraction(0), Fraction(1, 2)),
        ((0,), 0): (Fraction(1, 2), Fraction(1, 2), Fraction(0)),
        ((2,), 0): (Fraction(0), Fraction(1), Fraction(0)),
    }
    with pytest.raises(SettingsError, match='after the prefix "2" no token is left'):
        list(proposals(tree, laws))
    laws.rows[(2,), 0] = laws.rows[(0,), 0]
    assert len(list(proposals(tree, laws))) == 4


def test_given_tokens_must_be_as_many_as_nodes() -> None:
    for tokens in (None, (0,), (0, 1, 2)):
        with pytest.raises(SettingsError, match="2 draft tokens"):
            list(child_draws(star(2, "given", tokens), ROOT, (), Fixed(["1/2", "1/2", "0"])))


SHAPES = [(ROOT, 0, 1), (ROOT, ROOT, 0), (ROOT, ROOT, 1, 1), (ROOT, 0, 0, ROOT, 3)]


@pytest.mark.parametrize("parents", SHAPES)
@pytest.mark.parametrize("siblings", ["iid", "without-replacement", "top", "top-then-sampled"])
def test_proposals(parents: tuple[int, ...], siblings: Siblings) -> None:
    """Pr(tokens) = prod over nodes of Pr(their children | their prefix)."""
    tree = DraftTree(parents, siblings)
    laws = Drafters(random.Random(7), 3, possible=2)
    expected: dict[tuple[int, ...], Fraction] = {}
    for tokens in product(range(3), repeat=len(parents)):
        mass = ONE
        for node in range(ROOT, len(parents)):
            below = [child for child, parent in enumerate(parents) if parent == node]
            if not below or not mass:
                continue
            prefix, at = [], node
            while at != ROOT:
                prefix.append(tokens[at])
                at = parents[at]
            z = tuple(reversed(prefix))
            rows = [laws.law(Role.DRAFTED_FROM, z)] * len(below)
            mass *= naive(siblings, rows).get(tuple(tokens[child] for child in below), 0)
        if mass:
            expected[tokens] = mass
    found = [(drafted.tokens, mass) for drafted, mass in proposals(tree, laws)]
    assert dict(found) == expected
    assert len(found) == len(expected) == proposal_count(tree, laws)
    assert sum(expected.values()) == 1


def test_the_count_is_never_too_small_where_it_is_not_counted() -> None:
    full = Fixed(["1/2", "1/4", "1/4"])
    tree = DraftTree.chain(12)
    assert proposal_count(tree, full) == 3**12
    assert proposal_count(DraftTree.chain(40), full) == 3**40
    one = Fixed(["0", "1", "0"])
    assert proposal_count(DraftTree.chain(40), one) == 1


@pytest.mark.parametrize("siblings", ["iid", "without-replacement", "top", "top-then-sampled"])
def test_draw_counts_are_those_of_rows_without_zeros(siblings: Siblings) -> None:
    row = Fixed(["1/2", "1/4", "1/8", "1/8"])
    for children in (1, 2, 3):
        tree = star(children, siblings)
        assert draw_count(tree, ROOT, 4) == len(list(child_draws(tree, ROOT, (), row)))
    assert draw_count(star(2, "hub"), ROOT, 4) == len(
        list(child_draws(star(2, "hub"), ROOT, (), row))
    )
    assert len(list(permutations(range(4), 3))) == draw_count(
        star(3, "without-replacement"), ROOT, 4
    )
