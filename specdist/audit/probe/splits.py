"""The tree that a probe finds: at every node one draw is split, a leaf is an outcome."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from specdist.audit.probe.place import Place
from specdist.audit.probe.questions import Answer, Question, Trace

NEAR_TIE = 2.0**-18
"""Quotients of a race that are closer than this, relatively, may be rounded to a tie."""


@dataclass(slots=True)
class Leaf:
    """The program comes to ``outcome``, whatever it is answered from here on."""

    outcome: object
    place: Place


@dataclass(slots=True)
class Branch:
    """Answers that the program treats alike: a branch of a choice, the grid points from ``first``
    to ``last``, or the winners of a race. ``sample`` is the one that was run."""

    mass: Fraction
    sample: Answer
    child: Node
    first: int = 0
    last: int = 0


@dataclass(slots=True)
class Split:
    """The draw that the program makes at ``position``, and what it does with it. ``weights`` are
    those of a race, ``branch_of`` the branch of every winner."""

    position: int
    question: Question
    place: Place
    branches: list[Branch]
    weights: tuple[Fraction, ...] = ()
    branch_of: dict[int, int] = field(default_factory=dict)

    def taken(self, answer: Answer) -> Branch:
        """The branch of an answer."""
        if len(self.branches) == 1:
            return self.branches[0]
        if isinstance(answer, tuple):
            return self.branches[self.branch_of[ranked(self.weights, answer)[0][1]]]
        if self.question.masses:
            return self.branches[self.question.possible.index(answer)]
        return next(branch for branch in self.branches if answer <= branch.last)

    def near_tie(self, answer: Answer) -> bool:
        """Whether float rounding may turn the winner of a race."""
        if not isinstance(answer, tuple) or len(self.branches) == 1:
            return False
        first, second = ranked(self.weights, answer)[:2]
        return second[0] <= first[0] * (1 + NEAR_TIE)


Node = Leaf | Split


def ranked(weights: Sequence[Fraction], row: tuple[float, ...]) -> list[tuple[float, int]]:
    """The runners of a race, the winner first: E_i / w_i rising."""
    pairs = zip(row, weights, strict=True)
    quotients = [(noise / float(w), i) for i, (noise, w) in enumerate(pairs) if w]
    return sorted(quotients)


def leaves_of(node: Node, mass: Fraction = Fraction(1)) -> Iterator[tuple[object, Fraction]]:
    """Every outcome with the mass of its leaf."""
    if isinstance(node, Leaf):
        yield node.outcome, mass
        return
    for branch in node.branches:
        yield from leaves_of(branch.child, mass * branch.mass)


@dataclass(slots=True)
class Walk:
    """The way of a run through a tree: splits with the branches taken, and where it ends: at a
    leaf, or at a split that the run does not ask for."""

    steps: list[tuple[Split, Branch]]
    end: Node
    near_tie: bool

    def predicts(self, trace: Trace) -> bool:
        """Whether the tree says what the run came to."""
        return isinstance(self.end, Leaf) and self.end.outcome == trace.outcome


def walk(tree: Node, trace: Trace) -> Walk:
    """Follows the answers of a run."""
    found = Walk([], tree, False)
    while isinstance(found.end, Split) and trace.asks(found.end.position, found.end.question):
        split, answer = found.end, trace.answers[found.end.position]
        branch = split.taken(answer)
        found.near_tie = found.near_tie or split.near_tie(answer)
        found.steps.append((split, branch))
        found.end = branch.child
    return found
