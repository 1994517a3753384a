"""A recipe as plain data: the ordered steps that turn a captured row into a distribution."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

Argument = Fraction | int | str | tuple[int, ...] | tuple[tuple[int, Fraction], ...]


@dataclass(frozen=True, slots=True)
class RecipeStep:
    """One processor with its arguments in canonical form; ``text`` is how it is written."""

    name: str
    arguments: tuple[tuple[str, Argument], ...]
    text: str

    def argument(self, key: str) -> Argument:
        return dict(self.arguments)[key]


@dataclass(frozen=True, slots=True)
class Recipe:
    """Ordered steps; ``one_hot`` marks the point mass at the drafted token instead."""

    steps: tuple[RecipeStep, ...] = ()
    one_hot: bool = False

    def __str__(self) -> str:
        if self.one_hot:
            return "one-hot"
        return ",".join(step.text for step in self.steps) or "raw"
