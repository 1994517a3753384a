"""The overlap of partly known distributions: true values lie inside, the ends are the oracle's."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import product
from random import Random
from typing import Any

import pytest

from specdist.exact import overlap_bounds
from specdist.exact.interval import Interval
from specdist.exact.law import RationalLaw
from specdist.exact.overlap_bounds import as_partial, contradiction, overlap, rest_of, share_of
from specdist.exact.overlap_items import (
    Item,
    Unlisted,
    boxes,
    listed_items,
    pair_of,
    unlisted_items,
)
from specdist.exact.overlap_lower import LowerProblem, lower_problem
from specdist.exact.partial_law import PartialLaw
from specdist.exact.partial_masses import Box, totals_of
from specdist.exact.set_search import least
from tests import oracle_bounds as oracle
from tests.oracle_joint import ONE, ZERO
from tests.partial_rows import Cut, likeliest, random_cut, random_row

HALF = Fraction(1, 2)


def law(listed: dict[int, Fraction], others: int | None, cap: Fraction | None = None) -> PartialLaw:
    values = tuple(listed.values())
    return PartialLaw(tuple(listed), values, values, others, cap)


def pair(random: Random, sizes: Sequence[int]) -> tuple[list[Fraction], list[Fraction], Cut, Cut]:
    size = random.choice(sizes)
    p, q = random_row(random, size), random_row(random, size)
    first, second = random_cut(random, p), random_cut(random, q)
    assert first.side.holds(p), first.how
    assert second.side.holds(q), second.how
    return p, q, first, second


# ---- the case of the field: only the top two of each side ------------------------------------

TARGET = {0: HALF, 1: Fraction(1, 4)}
DRAFT = {0: Fraction(2, 5), 2: Fraction(2, 5)}


@pytest.mark.parametrize(
    ("vocabulary", "least"),
    [(3, Fraction(17, 20)), (4, Fraction(3, 5)), (5, Fraction(2, 5)), (50, Fraction(2, 5)),
     (151_936, Fraction(2, 5)), (None, Fraction(2, 5))],
)  # fmt: skip
def test_the_top_two_of_each_side(vocabulary: int | None, least: Fraction) -> None:
    others = None if vocabulary is None else vocabulary - 2
    found = overlap(law(TARGET, others), law(DRAFT, others))
    assert found == Interval(least, Fraction(17, 20))
    assert overlap(law(DRAFT, others), law(TARGET, others)) == found
    assert found.closed == (vocabulary == 3)


def test_the_naive_lower_end_needs_room_for_both_rests() -> None:
    """Over the tokens listed on both sides min sums to 1/2, whatever the others are."""
    caps = Fraction(1, 8)
    for vocabulary, rooms in ((5, False), (6, True)):
        # Two unlisted tokens for the quarter of the target, one for an eighth of the draft.
        target = law(TARGET, vocabulary - 2, caps)
        draft = law({0: HALF, 2: Fraction(3, 8)}, vocabulary - 2, caps)
        assert (overlap(target, draft).least == HALF) is rooms


# ---- true values, and the oracle -------------------------------------------------------------


@pytest.mark.parametrize("seed", range(6))
def test_ends_are_those_of_the_oracle(seed: int) -> None:
    random = Random(seed)
    for number in range(220):
        p, q, first, second = pair(random, (3, 3, 4, 4, 5))
        found = overlap(first.law, second.law)
        note = first, second
        assert oracle.overlap_of(p, q) in found, note
        assert found.least == oracle.least_overlap(first.side, second.side), note
        if number % 4 == 0:
            assert found.most == oracle.largest_overlap(first.side, second.side), note


@pytest.mark.parametrize("seed", [0, 1])
def test_ends_are_those_of_the_oracle_for_more_tokens(seed: int) -> None:
    random = Random(100 + seed)
    for _ in range(12):
        _, _, first, second = pair(random, (6, 7))
        found = overlap(first.law, second.law)
        assert found.least == oracle.least_overlap(first.side, second.side), (first, second)
        assert found.most == oracle.largest_overlap(first.side, second.side), (first, second)


def test_corners_and_sets_agree() -> None:
    """The oracle's two routes to the lower end."""
    random = Random(7)
    for _ in range(60):
        _, _, first, second = pair(random, (3, 4))
        by_sets = oracle.least_overlap_by_sets(first.side, second.side)
        assert by_sets == oracle.least_overlap(first.side, second.side), (first, second)


@pytest.mark.parametrize("seed", range(2))
def test_the_true_value_lies_inside(seed: int) -> None:
    random = Random(200 + seed)
    for number in range(500):
        p, q, first, second = pair(random, (3, 4, 5, 6, 7, 12))
        found = overlap(first.law, second.law)
        assert oracle.overlap_of(p, q) in found, (first, second)
        if number % 5 == 0:
            assert overlap(second.law, first.law) == found


def test_a_vocabulary_of_unknown_size() -> None:
    """As many further tokens as both rests need are enough, and what more there are changes
    nothing."""
    random = Random(3)
    checked = 0
    while checked < 30:
        p, q = random_row(random, 3), random_row(random, 3)
        cuts = [_open_ended(random, row) for row in (p, q)]
        if any(cut is None for cut in cuts):
            continue
        (first, one), (second, other) = (cut for cut in cuts if cut is not None)
        checked += 1
        found = overlap(first, second)
        assert found.least == oracle.least_overlap(one, other), (first, second)
        assert found.most == oracle.largest_overlap(one, other), (first, second)
        assert oracle.overlap_of(p, q) in found


def _open_ended(random: Random, p: list[Fraction]) -> tuple[PartialLaw, oracle.Side] | None:
    """The likeliest tokens of three, others without number; among four further tokens."""
    kept = sorted(likeliest(p, random.randint(1, 3)))
    listed = {x: (p[x], p[x]) for x in kept}
    cap = random.choice([None, min(p[x] for x in kept)])
    if cap is not None and 1 - sum(p[x] for x in kept) > 2 * cap:
        return None
    values = tuple(p[x] for x in kept)
    return PartialLaw(tuple(kept), values, values, None, cap), oracle.side(7, listed, cap)


def test_laws_that_do_not_count_the_same_vocabulary() -> None:
    """Sound whatever the tokens are that only one side counts: unlisted ones may be any, as if
    their number were not known."""
    target, draft = law({0: HALF, 1: Fraction(1, 4)}, 5), law({0: HALF}, 3)
    assert overlap(target, draft) == overlap(law({0: HALF, 1: Fraction(1, 4)}, None), draft)
    assert overlap(law({0: HALF}, 1), law({0: HALF}, 3)) == Interval(HALF, ONE)
    capped = overlap(law({0: HALF}, 1, HALF), law({0: HALF}, 3, Fraction(1, 4)))
    assert capped == Interval(HALF, Fraction(3, 4))
    assert overlap(law({0: HALF, 4: HALF}, 0), law({0: HALF}, 3)) == Interval(HALF, ONE)
    random = Random(17)
    for _ in range(150):
        sizes = random.choice([(3, 5), (5, 3), (4, 6)])
        p, q = (random_row(random, size) for size in sizes)
        first, second = (
            random_cut(random, row, ("top", "sampled", "chosen")).law for row in (p, q)
        )
        both = sum((min(x, y) for x, y in zip(p, q, strict=False)), ZERO)
        assert both in overlap(first, second), (p, q, first, second)


def test_one_side_complete() -> None:
    target = as_partial(RationalLaw((HALF, Fraction(1, 4), Fraction(1, 4))))
    draft = law({0: Fraction(1, 4)}, 2)
    assert overlap(target, draft) == Interval(HALF, Fraction(3, 4))
    assert overlap(target, target) == Interval.of(1)


# ---- single masses -----------------------------------------------------------------------------


def test_shares_and_rests_are_those_of_linear_programmes() -> None:
    random = Random(11)
    for _ in range(60):
        size = random.choice([3, 4])
        p = random_row(random, size)
        cut = random_cut(random, p)
        listed = list(map(int, cut.law.ids))
        unlisted = [x for x in range(size) if x not in listed]
        found = rest_of(cut.law)
        assert found.least == oracle.least_mass(cut.side, unlisted), cut
        assert found.most == 1 - oracle.least_mass(cut.side, listed), cut
        for place, token in enumerate(listed):
            share = share_of(cut.law, place)
            others = [x for x in range(size) if x != token]
            assert share.least == oracle.least_mass(cut.side, [token]), cut
            assert share.most == 1 - oracle.least_mass(cut.side, others), cut
            assert p[token] in share


def test_a_complete_law_keeps_its_rounding() -> None:
    values = (HALF, ZERO, Fraction(1, 3), Fraction(1, 6))
    exact = as_partial(RationalLaw(values))
    assert (exact.ids, exact.others, exact.scale) == ((0, 2, 3), 0, Interval.of(1))
    assert share_of(exact, 1) == Interval.of(Fraction(1, 3))
    bound = Fraction(1, 1000)
    rounded = as_partial(RationalLaw(values, bound))
    for signs in product((-1, 1), repeat=3):
        # The real weights are off by up to the bound, and then normalised.
        weights = [
            w / (1 + bound * s) for w, s in zip((v for v in values if v), signs, strict=True)
        ]
        for place, weight in enumerate(weights):
            assert weight / sum(weights) in share_of(rounded, place)
    assert share_of(as_partial(RationalLaw(values, ONE)), 0) == Interval(ZERO, ONE)


@pytest.mark.parametrize(
    ("made", "reason"),
    [
        (law({0: Fraction(3, 4), 1: HALF}, 3), "the listed tokens hold 5/4 at least"),
        (law({0: HALF}, 2, Fraction(1, 8)), "all tokens together hold 3/4 at most"),
        (law({0: HALF}, 0), "all tokens together hold 1/2 at most"),
        (PartialLaw((4,), (ONE,), (HALF,), 3), "the bounds of token 4 leave nothing"),
        (law({0: HALF}, 3, Fraction(-1)), "a scale, cap or count is negative"),
        (law({0: HALF}, 2, Fraction(1, 4)), ""),
        (law({0: HALF}, None, Fraction(1, 10**9)), ""),
    ],
)  # fmt: skip
def test_contradictions(made: PartialLaw, reason: str) -> None:
    assert contradiction(made) == reason
    if reason and "bounds" not in reason and "negative" not in reason:
        with pytest.raises(ValueError, match=reason):
            overlap(made, law({0: ONE}, 0))


# ---- planted bugs --------------------------------------------------------------------------------


def _keeps_rests_apart(original: Callable[..., Unlisted]) -> Callable[..., Unlisted]:
    """The sum over the tokens listed by both, whatever room there is."""

    def unlisted(laws: Any, sides: Any, target_only: int, draft_only: int) -> Unlisted:
        found = original(laws, sides, target_only, draft_only)
        apart = (Item(1, sides[0].rest, Box()), Item(1, Box(), sides[1].rest))
        return Unlisted(apart, found.together)

    return unlisted


def _forgets_half_widths(original: Callable[..., Any]) -> Callable[..., Any]:
    def boxes(some: PartialLaw) -> dict[int, Box]:
        middle = {x: (box.low + box.high) / 2 for x, box in original(some).items()}
        return {x: Box(value, value) for x, value in middle.items()}

    return boxes


def _swaps_caps(original: Callable[..., Any]) -> Callable[..., Any]:
    return lambda target, draft, sides: original(target, draft, (sides[1], sides[0]))


def _renormalises(original: Callable[..., Any]) -> Callable[..., Any]:
    def boxes(some: PartialLaw) -> dict[int, Box]:
        found = original(some)
        whole = sum(box.high for box in found.values()) or 1
        return {x: Box(box.low / whole, box.high / whole) for x, box in found.items()}

    return boxes


PLANTS: dict[str, tuple[str, Callable[..., Any]]] = {
    "rests kept apart": ("unlisted_items", _keeps_rests_apart),
    "half-widths forgotten": ("boxes", _forgets_half_widths),
    "caps of the other side": ("listed_items", _swaps_caps),
    "listed part renormalised": ("boxes", _renormalises),
}


@pytest.mark.parametrize("bug", PLANTS)
def test_planted_bugs_are_caught(bug: str, monkeypatch: pytest.MonkeyPatch) -> None:
    name, make = PLANTS[bug]
    monkeypatch.setattr(overlap_bounds, name, make(getattr(overlap_bounds, name)))
    random, wrong = Random(5), 0
    for _ in range(60):
        _, _, first, second = pair(random, (3, 4))
        lowest = oracle.least_overlap(first.side, second.side)
        most = oracle.largest_overlap(first.side, second.side)
        try:
            found = overlap(first.law, second.law)
        except ValueError:  # nothing is left between the ends
            wrong += 1
        else:
            wrong += (found.least, found.most) != (lowest, most)
    assert wrong


# ---- a search that is cut short ------------------------------------------------------------------


def test_a_search_that_ends_early_gives_a_proven_bound() -> None:
    """Whatever number of nodes is allowed, and within what is called enough."""
    random, short, near = Random(13), 0, 0
    for _ in range(150):
        _, _, first, second = pair(random, (5, 6, 7))
        problem = _problem(first.law, second.law)
        exact = least(problem)
        for nodes in (0, 1, 3):
            found = least(problem, nodes=nodes)
            assert found <= exact, (first, second)
            short += found < exact
        for enough in (Fraction(1, 20), Fraction(1, 200)):
            found = least(problem, enough)
            assert exact - enough <= found <= exact, (first, second)
            near += found < exact
    assert short
    assert near


def _problem(target: PartialLaw, draft: PartialLaw) -> LowerProblem:
    """The search for the lower end, put together from its parts."""
    mine, theirs = boxes(target), boxes(draft)
    sides = totals_of(target), totals_of(draft)
    both = len(set(mine) & set(theirs))
    found = unlisted_items((target, draft), sides, len(mine) - both, len(theirs) - both)
    items = *listed_items(mine, theirs, sides), *found.apart
    return lower_problem(pair_of(items, sides[0].scale, sides[1].scale))
