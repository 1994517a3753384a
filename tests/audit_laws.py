"""Laws of small functions under audit, for tests: what they return, with exact probabilities."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

from specdist.audit.context import Setup
from specdist.audit.measure import Measured, measure
from specdist.audit.program import Program
from specdist.audit.tables import tables

VOCAB = 8
ROUNDING = Fraction(1, 2**50)
Law = dict[int, Fraction]


def measured(function: Callable[[], Any], vocab: int = VOCAB) -> Measured:
    """A function that returns one whole number, walked."""
    setup = Setup(vocab=vocab, gamma=1, steps=1, framework="numpy")
    return measure(Program(lambda: [int(function())], setup, tables(vocab, 1)[0]), 10_000)


def law(function: Callable[[], Any]) -> Law:
    """The exact law of what it returns."""
    return {tokens[0]: mass for tokens, mass in measured(function).emitted.items()}


def is_close(found: Law, expected: dict[int, Any]) -> bool:
    """Whether two laws differ by less than the rounding of float64 and the grid of uniforms."""
    total = Fraction(sum(map(Fraction, expected.values())))
    both = found.keys() | expected.keys()
    gaps = [found.get(k, Fraction(0)) - Fraction(expected.get(k, 0)) / total for k in both]
    return sum(map(abs, gaps), Fraction(0)) / 2 <= ROUNDING
