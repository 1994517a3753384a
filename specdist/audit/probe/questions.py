"""What a program asks while it is probed, what it is answered, and what it comes to."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

from specdist.audit.grid import Grid

Answer = int | tuple[float, ...]
"""A branch, a grid point, or a row of standard exponentials."""


@dataclass(frozen=True, slots=True)
class Question:
    """One of three: a choice between branches of known ``masses``, a point of a ``grid``, or a row
    of ``count`` standard exponentials. ``asked`` is its text."""

    asked: str
    masses: tuple[Fraction, ...] = ()
    grid: Grid | None = None
    count: int = 0

    @property
    def options(self) -> int:
        """How many branches a choice has, how many runners a race; 0 for a grid point."""
        return len(self.masses) or self.count

    @property
    def possible(self) -> tuple[int, ...]:
        """The branches of a choice that have mass."""
        return tuple(i for i, mass in enumerate(self.masses) if mass)


Completion = Callable[[int, Question], Answer]
"""Answers a question at a position of the run: pure, so that the same question at the same place
is answered alike in every run."""


@dataclass(frozen=True, slots=True)
class Trace:
    """One run: the questions, the answers, and the outcome."""

    questions: tuple[Question, ...]
    answers: tuple[Answer, ...]
    outcome: object

    def behaves_as(self, other: Trace) -> bool:
        """Whether both asked the same and came to the same, whatever was answered."""
        return self.outcome == other.outcome and self.questions == other.questions

    def asks(self, position: int, question: Question) -> bool:
        """Whether this is the question at the position."""
        return position < len(self.questions) and self.questions[position] == question
