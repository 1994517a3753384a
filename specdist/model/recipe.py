"""A recipe as plain data: the ordered steps that turn a captured row into a distribution."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

Argument = Fraction | int | str | tuple[int, ...] | tuple[tuple[int, Fraction], ...]


@dataclass(frozen=True, slots=True)
class RecipeStep:
    """A processor or rule with its arguments in canonical form; ``text`` is how it is written."""

    name: str
    arguments: tuple[tuple[str, Argument], ...]
    text: str

    def argument(self, key: str) -> Argument:
        return dict(self.arguments)[key]

    def number(self, key: str = "value") -> Fraction:
        """An argument that is an exact number."""
        argument = self.argument(key)
        if isinstance(argument, Fraction | int):
            return Fraction(argument)
        raise TypeError(f"{self.name}: {key} is no number")

    def count(self, key: str = "value") -> int:
        """An argument that is a whole number."""
        argument = self.argument(key)
        if isinstance(argument, int):
            return argument
        raise TypeError(f"{self.name}: {key} is no count")

    def word(self, key: str) -> str:
        """An argument that is a word."""
        argument = self.argument(key)
        if isinstance(argument, str):
            return argument
        raise TypeError(f"{self.name}: {key} is no word")

    def ids(self, key: str = "value") -> tuple[int, ...]:
        """An argument that is a list of token ids."""
        argument = self.argument(key)
        if isinstance(argument, tuple):
            return tuple(entry for entry in argument if isinstance(entry, int))
        raise TypeError(f"{self.name}: {key} is no list of token ids")

    def changes(self, key: str = "value") -> dict[int, Fraction]:
        """An argument that maps token ids to numbers."""
        argument = self.argument(key)
        if isinstance(argument, tuple):
            return {entry[0]: entry[1] for entry in argument if isinstance(entry, tuple)}
        raise TypeError(f"{self.name}: {key} is no map of token ids")


@dataclass(frozen=True, slots=True)
class Recipe:
    """Ordered steps; ``one_hot`` marks the point mass at the drafted token instead."""

    steps: tuple[RecipeStep, ...] = ()
    one_hot: bool = False

    def __str__(self) -> str:
        if self.one_hot:
            return "one-hot"
        return ",".join(step.text for step in self.steps) or "raw"
