"""The best tree for a number of draft tokens, from how often each child is the accepted one.

a_i is the chance that the i-th child of a node is the accepted one, given that its parent was: not
conditional on the rejection of the children before it, so the a_i sum to at most 1. A tree of n
tokens, its root (the token that is emitted anyway) included, emits at most

    c(0) = 0,   c(n) = 1 + max over n_1 + .. + n_k = n - 1 of sum of a_i c(n_i)

tokens a step (Sequoia, Chen et al. 2402.12374, with positional acceptance). A node adds the product
of the a_i along its path, its reach; where the a_i do not rise, the node of largest reach that can
be added next is always the right one, so the best trees of all sizes are nested.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from heapq import heappop, heappush

from specdist.errors import SettingsError
from specdist.model.draft_tree import ROOT, DraftTree

_ZERO, _ONE = Fraction(0), Fraction(1)


@dataclass(frozen=True, slots=True)
class SizedTree:
    """A tree of draft tokens and the tokens that a step with it emits on average, the recovered or
    bonus token included."""

    tree: DraftTree
    expected_tokens: Fraction


def best_tree(
    acceptance: Sequence[Fraction], draft_tokens: int, max_depth: int | None = None
) -> SizedTree:
    """The tree of ``draft_tokens`` nodes that emits most tokens a step; ties go to the node that
    could be added first. It has fewer nodes where more could not be reached.

    ``acceptance`` holds a_1, a_2, .. for as many children as a node may have; ``max_depth`` is the
    longest path in draft tokens. Raises SettingsError for numbers below 0, that rise, or that sum
    to more than 1, and for a negative number of draft tokens.
    """
    return best_trees(acceptance, draft_tokens, max_depth)[-1]


def best_trees(
    acceptance: Sequence[Fraction], draft_tokens: int, max_depth: int | None = None
) -> tuple[SizedTree, ...]:
    """`best_tree` for 0, 1, .. draft tokens: each is the one before it with one more node."""
    _checked(acceptance, draft_tokens)
    parents: list[int] = []
    depths: list[int] = []
    expected = _ONE
    found = [SizedTree(DraftTree(()), expected)]
    frontier: list[tuple[Fraction, int, int, int, Fraction]] = []
    made = 0

    def offer(parent: int, rank: int, reach: Fraction) -> None:
        nonlocal made
        depth = 0 if parent == ROOT else depths[parent]
        if rank < len(acceptance) and (max_depth is None or depth < max_depth):
            gain = reach * acceptance[rank]
            if gain:
                heappush(frontier, (-gain, made, parent, rank, reach))
                made += 1

    offer(ROOT, 0, _ONE)
    while frontier and len(parents) < draft_tokens:
        negative, _, parent, rank, reach = heappop(frontier)
        node = len(parents)
        parents.append(parent)
        depths.append(1 if parent == ROOT else depths[parent] + 1)
        expected -= negative
        found.append(SizedTree(DraftTree(tuple(parents)), expected))
        offer(node, 0, -negative)
        offer(parent, rank + 1, reach)
    return tuple(found)


def largest_expected_tokens(acceptance: Sequence[Fraction], draft_tokens: int) -> Fraction:
    """c(draft_tokens + 1) by the recurrence itself, whatever the order of the a_i; the children
    1 .. k of a node must all be there."""
    _checked(acceptance, draft_tokens, falling=False)
    best = [_ZERO, _ONE]
    for size in range(2, draft_tokens + 2):
        best.append(_ONE + _split(acceptance, best, size - 1))
    return best[draft_tokens + 1]


def _split(acceptance: Sequence[Fraction], best: Sequence[Fraction], nodes: int) -> Fraction:
    """The most of ``sum a_i c(n_i)`` over n_1 .. n_k >= 1 with a sum of at most ``nodes``."""
    reached: list[Fraction | None] = [_ZERO, *[None] * nodes]
    most = _ZERO
    for share in acceptance[:nodes]:
        following: list[Fraction | None] = [None] * (nodes + 1)
        for used, value in enumerate(reached):
            if value is None:
                continue
            for more in range(1, nodes - used + 1):
                total = value + share * best[more]
                known = following[used + more]
                following[used + more] = total if known is None else max(known, total)
        most = max([most, *(value for value in following if value is not None)])
        reached = following
    return most


def _checked(acceptance: Sequence[Fraction], draft_tokens: int, falling: bool = True) -> None:
    place = "acceptance of the children"
    if draft_tokens < 0:
        raise SettingsError(f"{draft_tokens} draft tokens", expected="0 or more")
    for rank, value in enumerate(acceptance):
        if value < 0:
            raise SettingsError(f"child {rank + 1}: {value}", place=place, expected="0 or more")
        if falling and rank and value > acceptance[rank - 1]:
            raise SettingsError(
                f"child {rank + 1}: {value} after {acceptance[rank - 1]}",
                place=place,
                expected="numbers that do not rise: the most accepted child first",
            )
    if sum(acceptance, _ZERO) > 1:
        raise SettingsError(
            f"their sum is {sum(acceptance, _ZERO)}",
            place=place,
            expected="at most 1: one child at most is the accepted one",
            advice="give the chance of each child unconditionally, not after the others failed",
        )
