"""Branch and bound over sets of tokens, with bounds from cutting planes.

A problem is a list of items, each with some tokens of which a number is chosen. `least` finds the
least value of a choice, or, when the allowed number of nodes is used up, a proven lower bound.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import count
from math import floor
from typing import NamedTuple, Protocol

from specdist.exact.concave_height import Plane, highest
from specdist.exact.interval import Interval

_WORK, _FEWEST_NODES = 40_000, 32
"""Items times nodes, after which a bound has to do."""

_ROUNDS = 8
_GRID = 2**40
_WORTH = 1e-3
_ZERO, _ONE = Fraction(0), Fraction(1)
_CORNERS = ((_ONE, _ONE), (_ZERO, _ZERO), (_ONE, _ZERO), (_ZERO, _ONE))

Scales = tuple[Interval, Interval]


class Node(NamedTuple):
    """All choices with at least ``least`` and at most ``most`` tokens of each item."""

    least: tuple[int, ...]
    most: tuple[int, ...]


class Choice(NamedTuple):
    """A choice, and a bound that it attains for some weights (lambda, mu): ``value`` there, and as
    a function of the weights."""

    value: Fraction
    chosen: tuple[int, ...]
    plane: Plane[Fraction]


class Problem(Protocol):
    """See `overlap_lower.LowerProblem`."""

    @property
    def root(self) -> Node: ...

    def value(self, chosen: Sequence[int]) -> Fraction: ...

    def scales(self, node: Node) -> Scales: ...

    def choices(self, node: Node, scales: Scales, lam: Fraction, mu: Fraction) -> list[Choice]: ...

    def weight(self, item: int, scales: Scales) -> Fraction: ...


class _Bound(NamedTuple):
    """A proven lower bound for a node, the weights that gave it, and the mean choice of the planes
    that would prove a better one."""

    value: Fraction
    weights: tuple[Fraction, Fraction]
    mean: tuple[float, ...]


class _Search:
    def __init__(self, problem: Problem, enough: Fraction) -> None:
        self.problem, self.enough = problem, enough
        self.best: Fraction | None = None
        self.floor: Fraction | None = None
        self.tried: set[tuple[int, ...]] = set()

    def offer(self, chosen: tuple[int, ...]) -> None:
        if chosen not in self.tried:
            self.tried.add(chosen)
            value = self.problem.value(chosen)
            self.best = value if self.best is None else min(self.best, value)

    def closed(self, bound: Fraction) -> bool:
        return self.best is not None and bound >= self.best - self.enough

    def drop(self, bound: Fraction) -> None:
        """A node that is closed: nothing in it is below its bound."""
        self.floor = bound if self.floor is None else min(self.floor, bound)

    def bound(self, node: Node, weights: Sequence[tuple[Fraction, Fraction]]) -> _Bound:
        """Cutting planes in the weights, until the node is closed or the planes agree."""
        scales = self.problem.scales(node)
        found: list[Choice] = []
        best, where = None, weights[0]
        mean: tuple[float, ...] = ()
        queue = list(weights)
        for _ in range(_ROUNDS):
            for lam, mu in queue:
                choices = self.problem.choices(node, scales, lam, mu)
                value = min(choice.value for choice in choices)
                if best is None or value > best:
                    best, where = value, (lam, mu)
                for choice in choices:
                    self.offer(choice.chosen)
                found += choices
                if self.closed(best):
                    return _Bound(best, where, ())
            summit = highest([_rough(choice.plane) for choice in found])
            mean = self._mean(node, found, summit.weights)
            queue = [(_on_grid(summit.x), _on_grid(summit.y))]
            if queue[0] == where or not self._promising(summit.height, best):
                break
        assert best is not None
        return _Bound(best, where, mean)

    def _promising(self, height: float, best: Fraction | None) -> bool:
        """Whether the planes leave room for a bound that is worth another round."""
        if self.best is None or best is None:
            return True
        return height - float(best) > _WORTH * float(self.best - best) and not self.closed(best)

    def _mean(
        self, node: Node, found: Sequence[Choice], weights: Sequence[float]
    ) -> tuple[float, ...]:
        """The mixed choice of the planes; its roundings are good candidates."""
        total = sum(weights) or 1.0
        mean = [0.0] * len(node.least)
        for choice, weight in zip(found, weights, strict=True):
            if weight > 0:
                for i, k in enumerate(choice.chosen):
                    mean[i] += weight / total * k
        rounded = [
            min(max(round(k), few), many)
            for k, few, many in zip(mean, node.least, node.most, strict=True)
        ]
        self.offer(tuple(rounded))
        return tuple(mean)

    def branches(self, node: Node, bound: _Bound) -> Iterator[Node]:
        """Two nodes that part the choices of one item."""
        scales = self.problem.scales(node)
        open_items = [i for i, few in enumerate(node.least) if few < node.most[i]]
        mixed = [i for i in open_items if abs(bound.mean[i] - round(bound.mean[i])) > 1e-6]
        item = max(
            mixed or open_items,
            key=lambda i: (node.most[i] - node.least[i]) * self.problem.weight(i, scales),
        )
        few, many = node.least[item], node.most[item]
        middle = floor(bound.mean[item]) if item in mixed else (few + many) // 2
        middle = min(max(middle, few), many - 1)
        yield Node(node.least, (*node.most[:item], middle, *node.most[item + 1 :]))
        yield Node((*node.least[:item], middle + 1, *node.least[item + 1 :]), node.most)


def least(problem: Problem, enough: Fraction = _ZERO, nodes: int | None = None) -> Fraction:
    """A proven lower bound of all choices: the least value itself with ``enough`` 0, no further
    below it than ``enough`` otherwise, unless more than ``nodes`` nodes are needed (None: some
    hundreds, fewer where there are many items)."""
    search, root = _Search(problem, enough), problem.root
    if nodes is None:
        nodes = max(_WORK // (len(root.least) + 1), _FEWEST_NODES)
    if root.least == root.most:
        return problem.value(root.least)
    first = search.bound(root, _CORNERS)
    ticket = count()
    heap = [(first.value, next(ticket), root, first)]
    while heap and nodes > 0:
        value, _, node, bound = heapq.heappop(heap)
        if search.closed(value):
            search.drop(value)
            break
        nodes -= 1
        for part in search.branches(node, bound):
            if part.least == part.most:
                search.offer(part.least)
                continue
            found = search.bound(part, (bound.weights,))
            value = max(found.value, bound.value)
            if search.closed(value):
                search.drop(value)
            else:
                heapq.heappush(heap, (value, -next(ticket), part, found._replace(value=value)))
    ends = [search.best, search.floor, heap[0][0] if heap else None]
    return min(end for end in ends if end is not None)


def telling_ends(scale: Interval, weight: Fraction) -> tuple[Fraction, ...]:
    """The ends of a range of scales at which a bound with this weight can be lowest: with all of
    it on the term that rises with the scale the first, with none the last, otherwise both."""
    if weight == 1 or scale.closed:
        return (scale.least,)
    return (scale.least, scale.most) if weight else (scale.most,)


def _rough(plane: Plane[Fraction]) -> Plane[float]:
    return Plane(*(float(value) for value in plane))


def _on_grid(value: float) -> Fraction:
    return Fraction(round(max(0.0, min(1.0, value)) * _GRID), _GRID)
