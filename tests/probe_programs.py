"""Programs of random decisions as data, run through a session, and their laws by recursion.

Knows nothing of how a probe works: a node draws one number and goes on to one of its children.
"""

from __future__ import annotations

import random
from bisect import bisect_right
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

from specdist.audit.grid import Grid
from specdist.audit.tree import Session


@dataclass(frozen=True)
class Uniform:
    """A point k of a grid; child i where i of the rising ``cuts`` are at most k."""

    grid: Grid
    cuts: tuple[int, ...]
    children: tuple[Node, ...]


@dataclass(frozen=True)
class Race:
    """Child i where E_i / w_i is the smallest."""

    weights: tuple[int, ...]
    children: tuple[Node, ...]


@dataclass(frozen=True)
class Choice:
    """Child i with probability proportional to w_i."""

    weights: tuple[int, ...]
    children: tuple[Node, ...]


Node = Uniform | Race | Choice | str
Law = dict[str, Fraction]


def run(node: Node, session: Session) -> str:
    """One run: the word that it comes to."""
    while not isinstance(node, str):
        node = node.children[_drawn(node, session)]
    return node


def _drawn(node: Uniform | Race | Choice, session: Session) -> int:
    if isinstance(node, Uniform):
        return bisect_right(node.cuts, session.point(node.grid, "uniform"))
    if isinstance(node, Choice):
        total = sum(node.weights)
        return session.choose("choice", [Fraction(weight, total) for weight in node.weights])
    noise = session.noise(len(node.weights), "noise")
    running = [i for i, weight in enumerate(node.weights) if weight]
    return min(running, key=lambda i: noise[i] / node.weights[i])


def law(node: Node) -> Law:
    """The exact law of the words."""
    if isinstance(node, str):
        return {node: Fraction(1)}
    found: Law = {}
    for child, share in zip(node.children, _shares(node), strict=True):
        for word, mass in law(child).items():
            found[word] = found.get(word, Fraction(0)) + share * mass
    return {word: mass for word, mass in found.items() if mass}


def _shares(node: Uniform | Race | Choice) -> list[Fraction]:
    if isinstance(node, Uniform):
        ends = (0, *node.cuts, 1 << node.grid.bits)
        return [Fraction(end - begin, 1 << node.grid.bits) for begin, end in pairwise(ends)]
    return [Fraction(weight, sum(node.weights)) for weight in node.weights]


def grown(chance: random.Random, depth: int) -> Node:
    """A random program: uniforms on several grids, races with and without zeros, choices; words
    repeat, so that draws can be without effect."""
    if depth == 0 or chance.random() < 0.15:
        return chance.choice("abcde")
    kind = chance.choice((Uniform, Race, Choice))
    if kind is Uniform:
        grid = Grid(chance.choice((8, 24, 53)))
        size = 1 << grid.bits
        cuts = sorted({chance.randrange(size // 50, size) for _ in range(chance.choice((1, 1, 2)))})
        children = tuple(grown(chance, depth - 1) for _ in range(len(cuts) + 1))
        return Uniform(grid, tuple(cuts), children)
    weights = [chance.choice((0, 1, 2, 3, 5, 8, 13)) for _ in range(3)]
    weights[chance.randrange(3)] = chance.choice((1, 4, 9))
    return kind(tuple(weights), tuple(grown(chance, depth - 1) for _ in weights))


def total_variation(one: Mapping[str, Fraction], other: Mapping[str, Fraction]) -> Fraction:
    """Half the sum of absolute differences."""
    words = one.keys() | other.keys()
    return sum(abs(one.get(w, Fraction(0)) - other.get(w, Fraction(0))) for w in words) / 2
