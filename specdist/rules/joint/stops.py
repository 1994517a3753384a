"""The law of an accepted length on one path."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction


@dataclass(frozen=True, slots=True)
class Stops:
    """``chances[i]`` = Pr(accepted length = i | path); they sum to 1. ``error`` bounds how far each
    is from the true probability, where that is irrational."""

    chances: tuple[Fraction, ...]
    error: Fraction = Fraction(0)
