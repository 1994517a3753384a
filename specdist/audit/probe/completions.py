"""Completions: ways to answer whatever a program still asks.

Two values of a draw count as alike when the program does the same with both under every completion.
So completions have to cover every single later answer: the j-th branch, the j-th winner, low and
high uniforms, and mixtures of them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from fractions import Fraction

from specdist.audit.probe.questions import Answer, Completion, Question, Trace
from specdist.audit.tables import Chance

CLEAR = 2.0**-10
"""An exponential that wins against others of 1, whatever its weight is in practice."""
MIXED = 2
"""How many completions answer at random."""


def spread(j: int, total: int) -> Completion:
    """The j-th of ``total``: everything is answered with its j-th possibility; uniforms run from
    the first point of the grid (j = 0) to the last."""

    def answer(_: int, question: Question) -> Answer:
        if question.masses:
            possible = question.possible
            return possible[j % len(possible)]
        if question.grid is not None:
            size = question.grid.size
            return (
                (0, size - 1)[j > 0] if j in (0, total - 1) else (2 * j + 1) * size // (2 * total)
            )
        return tuple(CLEAR if i == j % question.count else 1.0 for i in range(question.count))

    return answer


def scattered(seed: object) -> Completion:
    """Every question at random, branches with equal probability, so that rare ones are seen."""

    def answer(position: int, question: Question) -> Answer:
        chance = Chance(f"completion {seed} {position}")
        if question.masses:
            possible = question.possible
            return possible[chance.below(len(possible))]
        return _drawn(question, chance)

    return answer


def faithful(chance: Chance) -> Completion:
    """Every question with the law that it really has: a random run. Each call draws anew."""

    def answer(_: int, question: Question) -> Answer:
        if not question.masses:
            return _drawn(question, chance)
        left = Fraction(chance.below(1 << 62), 1 << 62)
        for branch in question.possible:
            left -= question.masses[branch]
            if left < 0:
                return branch
        return question.possible[-1]

    return answer


def recorded(trace: Trace) -> Completion:
    """The answers of a run, wherever the same kind of question stands at the same position."""
    otherwise = scattered("fallback")

    def answer(position: int, question: Question) -> Answer:
        if position < len(trace.questions):
            asked, given = trace.questions[position], trace.answers[position]
            alike = (asked.grid, asked.count, len(asked.masses)) == (
                question.grid, question.count, len(question.masses),
            )  # fmt: skip
            if alike and (not question.masses or given in question.possible):
                return given
        return otherwise(position, question)

    return answer


def with_fixed(fixed: Mapping[int, Answer], rest: Completion) -> Completion:
    """Answers that are laid out for some positions, and a completion for the others."""
    laid_out: Callable[[int], Answer | None] = fixed.get

    def answer(position: int, question: Question) -> Answer:
        found = laid_out(position)
        return rest(position, question) if found is None else found

    return answer


def _drawn(question: Question, chance: Chance) -> Answer:
    if question.grid is not None:
        return chance.below(question.grid.size)
    uniforms = [chance.below(1 << 53) * 2.0**-53 for _ in range(question.count)]
    return tuple(-math.log1p(-uniform) for uniform in uniforms)
