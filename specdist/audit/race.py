"""Races: exponential or Gumbel noise of which only the winner is asked for.

With independent standard exponentials E_i and weights w_i the smallest E_i / w_i is i with
probability w_i / sum w; the largest log w_i + Gumbel_i is the same race. So noise is never drawn:
arithmetic with numbers changes the weights, and an argmax or argmin decides the winner. Ties have
probability 0 in real numbers; those of a low-precision format are another law.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from specdist.audit.context import Context
from specdist.audit.draw import choose_index
from specdist.audit.refusals import NotAFunctionError
from specdist.audit.tree import Session
from specdist.audit.uniform import refuse

IDEAL = "exponential and Gumbel noise is idealised: ties of a low-precision format are left out"
GUARDED = "a number up to 1e-6 that guards noise against log 0 is taken as 0"
REUSED = "reused randomness: one row of noise is raced again, and the same token wins"


@dataclass
class Row:
    """One row of noise, decided at most once. The same weights win again with the same token;
    other weights on the same noise are no race of their own."""

    name: str
    weights: tuple[Fraction, ...] | None = None
    winner: int = -1
    reused: bool = field(default=False)
    session: Session | None = None

    def decide(self, run: Context, weights: Sequence[Fraction]) -> int:
        """The winner.

        Raises RefusalError for noise that decides two different races, NotAFunctionError for noise
        that an earlier run raced.
        """
        if self.session is not None and self.session is not run.session:
            raise NotAFunctionError.of_state(self.name)
        self.session = run.session
        total = sum(weights, Fraction(0))
        shares = tuple(weight / total for weight in weights) if total else tuple(weights)
        if self.weights is not None:
            if shares != self.weights:
                raise refuse("noise that decides two different races", "draw new noise for each")
            self.reused = True
            run.notes.add(REUSED)
            return self.winner
        self.winner = choose_index(run, shares, f"{self.name}, the winner")
        self.weights = shares
        return self.winner


def refuse_rounding(weights: Sequence[Fraction]) -> None:
    """The largest of u ** (1 / w) is exp(-E / sum w) of one exponential E: it must neither
    underflow nor round to 1, or floats tie where real numbers do not."""
    if not Fraction(1, 2) <= sum(weights, Fraction(0)) <= 4:
        raise refuse(
            "powers of uniforms that underflow or round to 1",
            "race E / w, or normalise the weights",
        )
