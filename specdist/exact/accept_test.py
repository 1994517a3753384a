"""The acceptance test as an engine computes it: which uniform, which inequality, which ratio.

With a real-valued uniform u the test ``u < target / tested`` accepts with probability
``min(1, target / tested)``, whatever the inequality. On a grid of uniforms both matter: on
``{0 ... N-1}/N`` the probability of ``u < a`` is ``ceil(a N) / N``, that of ``u <= a`` is
``(floor(a N) + 1) / N``, at most 1.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import ceil, floor

_ZERO = Fraction(0)
_ONE = Fraction(1)


@dataclass(frozen=True, slots=True)
class UniformGrid:
    """Equally likely uniforms k/N; ``zero`` and ``one`` say whether the ends belong to it."""

    points: int
    zero: bool = True
    one: bool = False

    @property
    def first(self) -> int:
        return 0 if self.zero else 1

    @property
    def last(self) -> int:
        return self.points if self.one else self.points - 1

    @property
    def step(self) -> Fraction:
        """Probability of one point."""
        return Fraction(1, self.last - self.first + 1)

    @property
    def stretch(self) -> Fraction:
        """By how much a change of a chance between two points is enlarged at most."""
        return max(self.points * self.step, _ONE)

    def share(self, chance: Fraction, inclusive: bool) -> Fraction:
        """Probability of ``u < chance``, or of ``u <= chance``."""
        edge = chance * self.points
        top = floor(edge) if inclusive else ceil(edge) - 1
        return max(min(top, self.last) - self.first + 1, 0) * self.step


@dataclass(frozen=True, slots=True)
class AcceptTest:
    """How target and tested probability of a drafted token become a chance of acceptance.

    ``grid`` is None for a real-valued uniform. ``capped``: ``min(1, ratio)`` is compared, not the
    ratio itself, which matters where the grid holds 1. ``epsilon`` is added to the tested
    probability. ``zero_draft`` reads a tested probability of 0: "accept" (target/0 is infinite,
    0/0 rejects), "accept-all" (0/0 accepts as well), "reject".
    """

    grid: UniformGrid | None = None
    inclusive: bool = False
    capped: bool = True
    epsilon: Fraction = _ZERO
    zero_draft: str = "reject"

    @property
    def ideal(self) -> bool:
        """Whether the chance is ``min(1, target / tested)`` wherever that is defined."""
        return self.grid is None and not self.epsilon

    @property
    def zero_chance(self) -> Fraction:
        """The chance of target/0 with a target above 0: an infinite ratio, or 0."""
        if self.zero_draft == "reject":
            return _ZERO
        if self.grid is None or not self.capped:
            return _ONE
        return self.grid.share(_ONE, self.inclusive)

    @property
    def accepts_nothing(self) -> bool:
        """Whether 0/0, which is no number, passes the test."""
        return self.zero_draft == "accept-all"

    def chance(self, target: Fraction, tested: Fraction) -> Fraction:
        """Probability that a drafted token is accepted."""
        divisor = tested + self.epsilon
        if not divisor:
            return self.zero_chance if target > 0 else Fraction(int(self.accepts_nothing))
        ratio = target / divisor
        if self.grid is None:
            return min(ratio, _ONE)
        return self.grid.share(min(ratio, _ONE) if self.capped else ratio, self.inclusive)
