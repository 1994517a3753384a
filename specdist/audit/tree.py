"""Every branch of a program that draws: one run a leaf, with its exact probability.

A program asks the `Session` for every random decision. A run follows the answers that are laid out
for it and takes the first branch of every decision after them; then the deepest decision with a
branch left is turned, until none is left. The mass of a leaf is the product of the masses of its
branches, so the masses of all leaves sum to 1 exactly.

What a program asks at a decision must depend on its earlier answers only. Each decision keeps what
was asked, and a run that asks something else there ends the exploration (`NotAFunctionError`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Generic, TypeVar

from specdist.audit.refusals import AuditError, BudgetError, NotAFunctionError

Outcome = TypeVar("Outcome")
_ONE = Fraction(1)
MOST_DECISIONS = 400
"""In one run. More are a loop that draws until it likes the answer: it has no last leaf."""


@dataclass(frozen=True, slots=True)
class Leaf(Generic[Outcome]):
    """What one run came to, the probability of its answers, and the decisions: what was asked, the
    masses of the branches, the branch taken."""

    outcome: Outcome
    mass: Fraction
    path: tuple[tuple[str, tuple[Fraction, ...], int], ...]

    @property
    def answers(self) -> tuple[int, ...]:
        """The branch taken at every decision."""
        return tuple(taken for _, _, taken in self.path)


@dataclass(slots=True)
class _Decision:
    """``before`` is the mass of all answers up to here."""

    asked: str
    masses: tuple[Fraction, ...]
    taken: int
    before: Fraction = _ONE

    @property
    def mass(self) -> Fraction:
        """That of all answers up to here, this one included."""
        return self.before * self.masses[self.taken]

    def turn(self) -> bool:
        """Goes to the next branch that has mass; False when there is none."""
        for branch in range(self.taken + 1, len(self.masses)):
            if self.masses[branch]:
                self.taken = branch
                return True
        return False


class Session:
    """The decisions of one run. ``choose`` is all that a source of randomness needs."""

    probing = False

    def __init__(self, path: list[_Decision]) -> None:
        self._path = path
        self._depth = 0
        self.ended = False
        self._failure: AuditError | None = None

    @property
    def depth(self) -> int:
        """How many decisions the run has asked for so far."""
        return self._depth

    @property
    def laid(self) -> tuple[Fraction, ...]:
        """The masses of the next decision as an earlier run met it; empty where none did."""
        return self._path[self._depth].masses if self._depth < len(self._path) else ()

    def choose(self, asked: str, masses: Sequence[Fraction]) -> int:
        """The branch that this run takes. ``asked`` says what is decided and where; ``masses`` are
        the conditional probabilities of the branches, summing to 1.

        Raises NotAFunctionError where an earlier run asked something else after the same answers,
        and ValueError for masses that are no law. A certain answer is no decision.
        """
        given = tuple(masses)
        if len(given) == 1 and given[0] == 1:
            return 0
        if self._depth < len(self._path):
            known = self._path[self._depth]
            if known.asked != asked or known.masses != given:
                raise self._failed(known.asked, asked)
        else:
            if sum(given) != 1 or min(given) < 0:
                raise ValueError(f"the masses of {asked} are no law")
            if self._depth >= MOST_DECISIONS:
                self._failure = BudgetError.of_run(self._depth)
                raise self._failure
            first = next(branch for branch, mass in enumerate(given) if mass)
            before = self._path[-1].mass if self._path else _ONE
            self._path.append(_Decision(asked, given, first, before))
        self._depth += 1
        return self._path[self._depth - 1].taken

    def point(self, grid: object, asked: str) -> int:
        """Which point of a grid a uniform is: a question of probe mode only."""
        raise NotImplementedError(f"{asked} in traced mode")

    def noise(self, count: int, asked: str) -> tuple[float, ...]:
        """A row of exponentials: a question of probe mode only."""
        raise NotImplementedError(f"{asked} in traced mode")

    def finished(self) -> None:
        """Raises NotAFunctionError where a run asks for fewer decisions than the one before, or
        where it caught the error of asking for others."""
        self.ended = True
        if self._failure is not None:
            raise self._failure
        if self._depth < len(self._path):
            raise self._failed(self._path[self._depth].asked, "nothing more")

    def _failed(self, known: str, asked: str) -> NotAFunctionError:
        found = NotAFunctionError.of(known, asked, self._depth)
        self._failure = found
        return found


def leaves(
    program: Callable[[Session], Outcome], budget: int | None = None
) -> Iterator[Leaf[Outcome]]:
    """Runs the program once for every leaf.

    Raises BudgetError when more than ``budget`` leaves are met, NotAFunctionError where runs do not
    agree on what they ask.
    """
    path: list[_Decision] = []
    count = 0
    while True:
        session = Session(path)
        outcome = program(session)
        session.finished()
        mass = path[-1].mass if path else _ONE
        count += 1
        taken = tuple((decision.asked, decision.masses, decision.taken) for decision in path)
        yield Leaf(outcome, mass, taken)
        while path and not path[-1].turn():
            path.pop()
        if not path:
            return
        if budget is not None and count >= budget:
            raise BudgetError.after(count)


def replayed(program: Callable[[Session], Outcome], leaf: Leaf[Outcome]) -> Outcome:
    """The same run once more. Raises NotAFunctionError where it asks something else."""
    path: list[_Decision] = []
    for asked, masses, taken in leaf.path:
        path.append(_Decision(asked, masses, taken, path[-1].mass if path else _ONE))
    session = Session(path)
    outcome = program(session)
    session.finished()
    return outcome
