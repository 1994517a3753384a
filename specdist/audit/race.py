"""Races: exponential or Gumbel noise of which only the winner is asked for.

With independent standard exponentials E_i and weights w_i the smallest E_i / w_i is i with
probability w_i / sum w; the largest log w_i + Gumbel_i is the same race. So noise is never drawn:
arithmetic with numbers changes the weights, and an argmax or argmin decides the winner. Ties have
probability 0 in real numbers; those of a low-precision format are another law.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from fractions import Fraction

from specdist.audit.context import Context
from specdist.audit.draw import choose_index
from specdist.audit.uniform import refuse


class Shape(StrEnum):
    """What a noise value is as a function of E, with a number c of its own for each element."""

    TIMES = "c E"
    OVER = "c / E"
    LOG = "c + log E"
    MINUS_LOG = "c - log E"


@dataclass
class Row:
    """One row of noise, decided at most once. The same weights win again with the same token;
    other weights on the same noise are no race of their own."""

    name: str
    weights: tuple[Fraction, ...] | None = None
    winner: int = -1
    reused: bool = field(default=False)

    def decide(self, run: Context, weights: Sequence[Fraction]) -> int:
        """The winner. Raises RefusalError for noise that decides two different races."""
        total = sum(weights, Fraction(0))
        shares = tuple(weight / total for weight in weights) if total else tuple(weights)
        if self.weights is not None:
            if shares != self.weights:
                raise refuse("noise that decides two different races", "draw new noise for each")
            self.reused = True
            return self.winner
        self.winner = choose_index(run, shares, f"{self.name}, the winner")
        self.weights = shares
        return self.winner


def weights_of(shape: Shape, numbers: Sequence[float], largest: bool) -> tuple[Fraction, ...]:
    """The weights of a race: exact rationals of floats, or float64 exponentials of logits.

    Raises RefusalError where the slowest of the race would be asked for.
    """
    asks_for_fastest = largest == (shape in (Shape.OVER, Shape.MINUS_LOG))
    if not asks_for_fastest:
        raise refuse("the last of a race", "ask for argmax of w / E, or argmin of E / w")
    if shape is Shape.OVER:
        return tuple(Fraction(number) for number in numbers)
    if shape is Shape.TIMES:
        return tuple(_inverse(number) for number in numbers)
    signed = [number if shape is Shape.MINUS_LOG else -number for number in numbers]
    top = max(signed)
    return tuple(Fraction(math.exp(number - top)) for number in signed)


def _inverse(number: float) -> Fraction:
    return Fraction(0) if math.isinf(number) else 1 / Fraction(number)
