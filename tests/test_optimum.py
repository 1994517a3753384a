"""The most that any lossless rule accepts: formulas, all subsets, exact programmes, invariants."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from typing import cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from specdist.exact.drafts_optimum import optimum_iid, optimum_top, optimum_top_then_sampled
from specdist.exact.law import RationalLaw
from specdist.exact.rational_vector import RationalVector
from specdist.exact.subset_optimum import LARGEST_SUPPORT, optimum_by_subsets
from specdist.model.draft_tree import DraftTree, Siblings
from specdist.model.role import Role
from specdist.rules.joint.optima.chain_optimum import chain_optimum
from specdist.rules.joint.optima.coverage import Coverage
from specdist.rules.joint.optima.path_bound import path_bound
from specdist.rules.joint.optima.position_optimum import position_optimum
from specdist.verify.joint.optimum import drafts_optimum, optima, optima_note
from tests import oracle_tree_optimum as trees
from tests.oracle_joint import (
    Models,
    Prefix,
    Row,
    block,
    constant,
    joint_overlap,
    markov,
    overlap,
    pair,
    row,
    step,
    token_chain,
)
from tests.oracle_optima import (
    any_verifier,
    best_acceptance,
    best_acceptance_by_programme,
    block_optimum,
    multi_path_bound,
    multi_path_optimum,
)
from tests.oracle_trees import draws, rrs_stages
from tests.strategies import full_rows, rows

MODES: list[Siblings] = ["iid", "without-replacement", "top", "top-then-sampled", "hub"]


@dataclass
class Laws:
    """`PrefixLaws` over the models of the oracle."""

    models: Models

    @property
    def size(self) -> int:
        return self.models.size

    one_hot: frozenset[Role] = frozenset()

    def law(self, role: Role, prefix: Prefix, rank: int = 0) -> Row:
        assert role in (Role.REFERENCE, Role.DRAFTED_FROM)
        return self.models.R(prefix) if role is Role.REFERENCE else self.models.D(prefix, rank)


def same(p: Row, *q: Row, depth: int = 1) -> Models:
    return pair(constant(p, depth), *(constant(law, depth) for law in q))


def tree(children: Sequence[int], siblings: Siblings = "iid") -> DraftTree:
    return DraftTree.levels(children, siblings)


def one_position(p: Row, laws: Sequence[Row], siblings: Siblings) -> Fraction | None:
    return position_optimum(tree([len(laws)], siblings), Laws(same(p, *laws)))


# ---- one position ----------------------------------------------------------------------------

MD = {
    "MD-A": (row("1/3", "2/3"), row("2/3", "1/3"), ("8/9", "1", "1", "1", "1")),
    "MD-B": (
        row("1/2", "1/3", "1/6"),
        row("1/6", "1/3", "1/2"),
        ("29/36", "11/12", "1/2", "5/6", "5/6"),
    ),
    "MD-C": (
        row("3/5", "3/10", "1/10"),
        row("1/5", "1/5", "3/5"),
        ("37/50", "19/20", "7/10", "9/10", "9/10"),
    ),
    "MD-D": (row("5/16", "11/16"), row("1/2", "1/2"), ("1", "1", "1", "1", "1")),
}


@pytest.mark.parametrize("name", MD)
def test_two_drafts(name: str) -> None:
    p, q, expected = MD[name]
    for siblings, value in zip(MODES, expected, strict=True):
        assert one_position(p, [q, q], siblings) == Fraction(value), siblings


def test_three_drafts_and_two_drafters() -> None:
    p, q = row("3/5", "3/10", "1/10"), row("1/5", "1/5", "3/5")
    assert one_position(p, [q] * 3, "iid") == Fraction(221, 250)
    assert one_position(p, [q] * 3, "without-replacement") == 1
    target, first, second = (
        row("1/2", "1/3", "1/6"),
        row("1/6", "1/3", "1/2"),
        row("1/3", "1/6", "1/2"),
    )
    assert one_position(target, [first, second], "iid") == Fraction(11, 12)
    found = optimum_by_subsets(target, draws("iid", [first, second]))
    assert found is not None
    assert found.limit == (2,)


@st.composite
def positions(draw: st.DrawFn) -> tuple[Row, Row, int]:
    p = draw(rows(max_size=4))
    q = draw(st.one_of(rows(size=len(p)), full_rows(len(p)), st.just(p)))
    return tuple(p), tuple(q), draw(st.integers(1, 3))


@settings(max_examples=60, deadline=None)
@given(positions(), st.sampled_from(MODES))
def test_every_way_of_drawing_against_all_subsets(
    position: tuple[Row, Row, int], siblings: Siblings
) -> None:
    p, q, n = position
    support = sum(1 for mass in q if mass)
    if siblings == "hub":
        n = 2
    if siblings != "iid":
        n = min(n, support)
    if siblings == "hub" and n < 2:
        return
    mode = siblings
    expected = best_acceptance(p, mode, [q] * n)
    assert one_position(p, [q] * n, siblings) == expected
    by_subsets = optimum_by_subsets(p, draws(mode, [q] * n))
    assert by_subsets is not None
    assert by_subsets.acceptance == expected
    held = sum((m for t, m in draws(mode, [q] * n) if {*t} <= {*by_subsets.limit}), Fraction(0))
    assert 1 - held + sum((p[y] for y in by_subsets.limit), Fraction(0)) == expected


@settings(max_examples=15, deadline=None)
@given(rows(size=3), full_rows(3), full_rows(3), st.sampled_from(MODES[:2]))
def test_two_drafters_against_the_programme(
    p: list[Fraction], q: list[Fraction], other: list[Fraction], siblings: Siblings
) -> None:
    laws = [tuple(q), tuple(other)]
    expected = best_acceptance_by_programme(tuple(p), siblings, laws)
    assert one_position(tuple(p), laws, siblings) == expected


@settings(max_examples=60, deadline=None)
@given(rows(max_size=6), st.data())
def test_order_of_the_optima(p: list[Fraction], data: st.DataObject) -> None:
    """RRS <= i.i.d. <= without replacement, rising in n, and 1 - TV for one draft."""
    q = data.draw(full_rows(len(p)))
    target, draft = RationalVector(tuple(p)), RationalVector(tuple(q))
    iid = [optimum_iid(target, draft, n).value for n in (1, 2, 3)]
    apart = [one_position(tuple(p), [tuple(q)] * n, "without-replacement") for n in (1, 2, 3)]
    assert iid[0] == apart[0] == overlap(tuple(p), tuple(q))
    assert iid == sorted(iid)
    for n, (value, other) in enumerate(zip(iid, apart, strict=True), 1):
        rejected = Fraction(1)
        for beta in rrs_stages(tuple(p), tuple(q), n):
            rejected *= 1 - beta
        assert other is not None
        assert 1 - rejected <= value <= other <= 1


def test_a_known_gap_between_all_three() -> None:
    """The order is strict somewhere, so the test above is not one of equalities."""
    p, q, _ = MD["MD-B"]
    assert [overlap(p, q), Fraction(13, 18)] < [Fraction(29, 36), Fraction(11, 12)]
    assert one_position(p, [q] * 2, "iid") == Fraction(29, 36)


def test_sixteen_tokens_and_no_more() -> None:
    for support, told in ((LARGEST_SUPPORT, True), (LARGEST_SUPPORT + 1, False)):
        p = tuple(Fraction(2 * y + 1, support**2) for y in range(support))
        q = (Fraction(1, support),) * support
        found = one_position(p, [q, q], "without-replacement")
        assert (found is not None) is told
        if found is not None:  # the pairs are the uniform ones: H of the k smallest p
            inside = (
                Fraction(k * (k - 1), support * (support - 1)) - sum(p[:k])
                for k in range(support + 1)
            )
            assert found == 1 - max(inside)
        assert one_position(p, [q, q], "iid") is not None


def test_tokens_that_are_never_drafted_do_not_count_as_support() -> None:
    p = (Fraction(1, 40),) * 40
    q = (Fraction(1, 2), Fraction(1, 3), Fraction(1, 6), *[Fraction(0)] * 37)
    found = one_position(p, [q, q], "without-replacement")
    assert found == best_acceptance(p[:3], "without-replacement", [q[:3]] * 2) == Fraction(3, 40)


def test_no_token_left_for_the_last_draw() -> None:
    vectors = [RationalVector(law) for law in (row("1/2", "1/4", "1/4"), row("1", "0", "0"))]
    assert optimum_top_then_sampled(*vectors, 2) is None
    assert optimum_top(*vectors, 2).value == Fraction(3, 4)


def test_top_ties_go_to_the_lower_id() -> None:
    p, q = row("1/10", "2/10", "3/10", "4/10"), row("1/4", "1/4", "1/4", "1/4")
    vectors = RationalVector(p), RationalVector(q)
    assert optimum_top(*vectors, 2).value == Fraction(3, 10)
    assert optimum_top_then_sampled(*vectors, 3) == (Fraction(3, 10) + Fraction(7, 10), 0)
    assert optimum_top_then_sampled(*vectors, 2) == (Fraction(6, 10) + Fraction(1, 3), 0)


def test_rounded_laws_hand_their_errors_on() -> None:
    p, q, _ = MD["MD-B"]
    target, draft = RationalVector(p, Fraction(1, 1000)), RationalVector(q, Fraction(1, 500))
    assert optimum_iid(target, draft, 3).bound == (3 * Fraction(1, 500) + Fraction(1, 1000)) / 2
    assert optimum_top(target, draft, 1).bound == Fraction(1, 2000)
    near = RationalVector(row("1/3", "333/1000", "1001/3000"), Fraction(1, 500))
    assert optimum_top(target, near, 1).bound == 1
    found = optimum_top_then_sampled(target, draft, 2)
    assert found is not None
    assert Fraction(1, 1000) < found.bound < Fraction(1, 100)


@pytest.mark.parametrize("siblings", ["iid", "top", "top-then-sampled", "hub"])
def test_drafts_of_a_single_row(siblings: Siblings) -> None:
    p, q, _ = MD["MD-C"]
    found = drafts_optimum(RationalLaw(p), RationalLaw(q), 2, siblings)
    assert found is not None
    assert found.exact == best_acceptance(p, siblings, [q, q])
    assert found.bound is None


def test_what_a_single_row_does_not_tell() -> None:
    p, q, _ = MD["MD-C"]
    laws = RationalLaw(p), RationalLaw(q)
    assert drafts_optimum(*laws, 2, "without-replacement") is None
    assert drafts_optimum(*laws, 2, "given") is None
    assert drafts_optimum(*laws, 1, "given") is None
    one = drafts_optimum(*laws, 1, "without-replacement")
    assert one is not None
    assert one.exact == Fraction(1, 2)


# ---- one path --------------------------------------------------------------------------------

BLK = {
    "BLK-1": (row("1/3", "2/3"), row("2/3", "1/3"), 2, "11/9", "4/3"),
    "BLK-2": (row("1/3", "2/3"), row("2/3", "1/3"), 1, "2/3", "2/3"),
    "BLK-3": (row("1/3", "2/3"), row("2/3", "1/3"), 3, "5/3", "50/27"),
    "BLK-5": (row("1/2", "1/3", "1/6"), row("1/6", "1/3", "1/2"), 2, "7/6", "11/9"),
    "BLK-9": (row("9/20", "9/20", "1/10"), row("1/20", "3/20", "4/5"), 2, "91/200", "13/25"),
}


@pytest.mark.parametrize("name", BLK)
def test_block_optimum(name: str) -> None:
    p, q, length, best, most = BLK[name]
    models = same(p, q, depth=length)
    found = chain_optimum(DraftTree.chain(length), Laws(models))
    assert found == (Fraction(best), Fraction(most))
    assert path_bound(DraftTree.chain(length), Laws(models)) == Fraction(best)


def test_block_optimum_of_markov_models() -> None:
    half = row("1/2", "1/2")
    target = markov(half, [row("3/4", "1/4"), row("1/4", "3/4")], 2)
    models = pair(target, markov(row("3/4", "1/4"), [half, half], 2))
    assert chain_optimum(DraftTree.chain(2), Laws(models)) == (Fraction(23, 16), Fraction(3, 2))


@st.composite
def models_of(draw: st.DrawFn, size: int, depth: int, full: bool = False) -> Models:
    """First-order pairs, with zeros unless ``full``."""
    strategy = full_rows(size) if full else rows(size=size)
    sides = []
    for side in (strategy, full_rows(size) if full else strategy):
        first, *after = (tuple(draw(side)) for _ in range(size + 1))
        sides.append(markov(first, after, depth))
    return pair(*sides)


@settings(max_examples=30, deadline=None)
@given(models_of(3, 3), st.integers(1, 3))
def test_one_path_by_recursion_and_by_the_rule_itself(models: Models, length: int) -> None:
    found = chain_optimum(DraftTree.chain(length), Laws(models))
    assert found.block == block_optimum(models, length)
    assert found.overlap == joint_overlap(models, length)
    assert path_bound(DraftTree.chain(length), Laws(models)) == found.block
    attained = step(block(models, length), models.target, length)
    assert attained.expected_accepted == found.block
    assert attained.law == attained.reference
    tokens = step(token_chain(models, length), models.target, length)
    assert tokens.expected_accepted <= found.block <= found.overlap


@settings(max_examples=5, deadline=None)
@given(models_of(3, 2, full=True))
def test_no_verifier_of_one_path_does_better(models: Models) -> None:
    assert chain_optimum(DraftTree.chain(2), Laws(models)).block == any_verifier(models, 2)


# ---- several paths ---------------------------------------------------------------------------


def paths(count: int, length: int) -> DraftTree:
    return tree([count, *[1] * (length - 1)])


def test_two_and_three_paths() -> None:
    """MPATH-1 and MPATH-2: the optimum of two and of three i.i.d. paths of length 2."""
    models = same(row("1/3", "2/3"), row("2/3", "1/3"), depth=2)
    two = trees.tree_optimum(models, paths(2, 2).parents, "iid")
    assert two == multi_path_optimum(models, 2, 2) == Fraction(131, 81)
    assert path_bound(paths(2, 2), Laws(models)) == Fraction(131, 81)
    assert multi_path_optimum(models, 3, 2) == Fraction(1351, 729)
    bound = path_bound(paths(3, 2), Laws(models))
    assert Fraction(1351, 729) <= bound <= multi_path_bound(models, 3, 2)


SHAPES: list[tuple[Sequence[int], Siblings]] = [
    ([2, 1], "iid"),
    ([2, 2], "iid"),
    ([1, 2], "iid"),
    ([2, 1], "without-replacement"),
    ([2, 2], "without-replacement"),
    ([2, 1], "top"),
    ([2, 1], "top-then-sampled"),
    ([2, 2], "hub"),
]


@pytest.mark.parametrize(("children", "siblings"), SHAPES)
@settings(max_examples=4, deadline=None)
@given(data=st.data())
def test_no_verifier_of_a_tree_beats_its_bound(
    children: Sequence[int], siblings: Siblings, data: st.DataObject
) -> None:
    models = data.draw(models_of(2, 2, full=True))
    shape = tree(children, siblings)
    best = trees.tree_optimum(models, shape.parents, siblings)
    bound = path_bound(shape, Laws(models))
    assert best <= bound <= trees.singleton_bound(models, shape.parents, siblings)


def test_no_verifier_over_three_tokens_beats_the_bound() -> None:
    after = [row("1/6", "1/3", "1/2"), row("1/2", "1/2", "0"), row("2/5", "2/5", "1/5")]
    target = markov(row("1/2", "1/3", "1/6"), after, 2)
    models = pair(target, markov(row("1/6", "1/3", "1/2"), after[::-1], 2))
    for siblings in cast("list[Siblings]", ["without-replacement", "top-then-sampled"]):
        shape = tree([2, 1], siblings)
        best = trees.tree_optimum(models, shape.parents, siblings)
        assert best <= path_bound(shape, Laws(models)) <= best + Fraction(1, 20)


def test_sets_of_tokens_make_the_bound_sharper() -> None:
    """Two tokens that are rarely drafted: 14/25 at the root, where single tokens allow 29/50."""
    p, q = row("2/5", "2/5", "1/5"), row("1/10", "1/10", "4/5")
    models = same(p, q, depth=2)
    shape = paths(2, 2)
    coarse = trees.singleton_bound(models, shape.parents, "iid")
    assert coarse == multi_path_bound(models, 2, 2)
    assert coarse - path_bound(shape, Laws(models)) >= Fraction(1, 50)
    assert path_bound(tree([2]), Laws(models)) == Fraction(14, 25)
    assert trees.singleton_bound(models, (-1, -1), "iid") == Fraction(29, 50)


@settings(max_examples=30, deadline=None)
@given(positions())
def test_at_one_position_the_bound_is_the_optimum(position: tuple[Row, Row, int]) -> None:
    p, q, n = position
    assert path_bound(tree([n]), Laws(same(p, q))) == best_acceptance(p, "iid", [q] * n)


@pytest.mark.parametrize(
    ("parents", "siblings"),
    [
        ((-1, -1, 0, 0, 1), "iid"),
        ((-1, -1, -1, 1, 1, 3), "iid"),
        ((-1, -1, 0, 1, 1), "without-replacement"),
        ((-1, -1, 0, 0, 1, 1), "hub"),
        ((-1, -1, 0, 0, 1, 1), "top-then-sampled"),
        ((-1, -1, 0, 1), "top"),
    ],
)
def test_how_likely_a_tree_holds_a_prefix(parents: tuple[int, ...], siblings: Siblings) -> None:
    """Lopsided trees over first-order rows, every single token and every set in one order."""
    first, *after = (
        row("1/2", "1/3", "1/6"),
        row("1/6", "1/3", "1/2"),
        row("2/5", "2/5", "1/5"),
        row("1/10", "1/5", "7/10"),
    )
    shape = DraftTree(parents, siblings)
    models = pair(markov(first, after, 3), markov(after[2], after, 3))
    expected = trees.covers(models, parents, siblings)
    coverage = Coverage(shape, Laws(models))
    for depth, order in product(range(shape.depth), ([0, 1, 2], [2, 0, 1])):
        for z in product(range(3), repeat=depth):
            single, sets = coverage.along(z, order)
            for index, y in enumerate(order):
                several = frozenset((*z, x) for x in order[: index + 1])
                assert single[index] == expected[z, frozenset({(*z, y)})]
                assert sets[index] == expected[z, several]


def test_rows_that_no_draw_needs_are_not_asked_for() -> None:
    """The second child is a leaf, so nothing is drawn after its token 1."""
    first = row("1/2", "1/3", "1/6")
    target = {(): row("1/6", "1/3", "1/2"), (0,): first}
    models = pair(target, {(): first, (0,): row("1/3", "1/3", "1/3")})
    found = path_bound(DraftTree((-1, -1, 0), "top"), Laws(models))
    assert found == Fraction(1, 6) + Fraction(1, 3) + Fraction(1, 6) * Fraction(1, 2)
    apart = {(): row("1", "0", "0"), (0,): first}, {(): row("0", "1/2", "1/2")}
    lopsided = pair(target, *apart)
    coverage = Coverage(DraftTree((-1, -1, 0)), Laws(lopsided))
    assert [coverage.goes_on(z) for z in ((), (0,), (1,), (2,), (0, 1))] == [
        True,
        True,
        False,
        False,
        False,
    ]


def test_several_drafters_and_given_tokens() -> None:
    laws = row("1/6", "1/3", "1/2"), row("1/3", "1/6", "1/2")
    models = same(row("1/2", "1/3", "1/6"), *laws, depth=2)
    expected = trees.covers(models, (-1, -1, 0, 1), "iid")
    coverage = Coverage(paths(2, 2), Laws(models))
    assert coverage.along((1,), [0])[0] == [expected[(1,), frozenset({(1, 0)})]]
    given_tree = DraftTree((-1, -1, 0, 1), "given", tokens=(2, 2, 0, 1))
    assert Coverage(given_tree, Laws(models)).along((2,), [1, 2, 0]) == ([1, 0, 1], [1, 1, 1])
    assert Coverage(given_tree, Laws(models)).along((0,), [1, 2, 0]) == ([0, 0, 0], [0, 0, 0])
    p = models.target[()]
    assert path_bound(given_tree, Laws(models)) == p[2] + p[2] * (p[0] + p[1])
    single = DraftTree((-1, -1), "given", tokens=(2, 2))
    assert position_optimum(single, Laws(models)) == p[2]


# ---- what is reported ------------------------------------------------------------------------


def test_optima_by_shape() -> None:
    models = same(row("1/3", "2/3"), row("2/3", "1/3"), depth=2)
    laws = Laws(models)
    one = optima(DraftTree.chain(1), laws, Fraction(1, 2))
    assert [(o.name, o.expected_accepted.exact, o.left.exact, o.attained) for o in one] == [
        ("one draft", Fraction(2, 3), Fraction(1, 6), True)
    ]
    chain = optima(DraftTree.chain(2), laws, Fraction(10, 9))
    assert [(o.name, o.expected_accepted.exact, o.left.exact, o.attained) for o in chain] == [
        ("block", Fraction(11, 9), Fraction(1, 9), True),
        ("overlap bound", Fraction(4, 3), Fraction(2, 9), False),
    ]
    assert "overlap" not in chain[0].note
    drafts = optima(tree([2]), laws, Fraction(7, 9))
    assert [(o.name, o.left.exact) for o in drafts] == [("2 drafts", Fraction(1, 9))]
    several = optima(paths(2, 2), laws, Fraction(38, 27))
    assert [(o.name, o.left.exact, o.attained) for o in several] == [
        ("multi-path bound", Fraction(131, 81) - Fraction(38, 27), False)
    ]
    assert optima(DraftTree(()), laws, Fraction(0)) == ()


def test_rounded_rows_give_optima_a_bound() -> None:
    laws = Laws(same(row("1/3", "2/3"), row("2/3", "1/3"), depth=2))
    (found, _) = optima(DraftTree.chain(2), laws, Fraction(1), Fraction(1, 1000), Fraction(1, 7))
    # Four products of probabilities, each within (1 + e) / (1 - e).
    moved = [Fraction(11, 9) * Fraction(1001, 999) ** power for power in (4, -4)]
    assert found.expected_accepted.bound is not None
    assert all(abs(value - Fraction(11, 9)) <= found.expected_accepted.bound for value in moved)
    assert found.left.bound is not None
    assert found.left.bound > Fraction(1, 7)
    assert found.expected_accepted.bound < Fraction(1, 50)


def test_large_steps_are_left_out_with_a_note() -> None:
    laws = Laws(same(row("1/3", "2/3"), row("2/3", "1/3")))
    assert optima(DraftTree.chain(17), laws, Fraction(0)) == ()
    note = optima_note(DraftTree.chain(17), 2)
    assert note is not None
    assert "262,142 prefixes" in note
    assert optima_note(DraftTree.chain(16), 2) is None
    wide = optima_note(tree([4, 4, 4]), 16)
    assert wide is not None
    assert "4,368 prefixes and 84 nodes" in wide
