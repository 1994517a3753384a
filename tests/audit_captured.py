"""A module that took hold of functions and generators before any audit; for tests."""

from __future__ import annotations

import functools
from collections.abc import Callable
from random import Random, choice, random

import numpy as np
from numpy.random import PCG64, Generator, default_rng, rand

MODULE = default_rng(7)
TWIN = default_rng(7)
LEGACY = np.random.RandomState(5)
PYTHON = Random(3)
LISTED = [default_rng(11)]
NAMED = {"rng": default_rng(13)}
HIDDEN = (default_rng(12),)


class Holder:
    of_class = default_rng(1)

    def __init__(self) -> None:
        self.own = default_rng(2)


HOLDER = Holder()


def closed() -> Callable[[], bool]:
    generator = default_rng(9)
    return lambda: generator.random() < 0.25


def by_default(generator: Generator = default_rng(4)) -> bool:  # noqa: B008
    return generator.random() < 0.25


FOLLOWED: dict[str, Callable[[], object]] = {
    "a function of random": lambda: random() < 0.25,
    "another": lambda: choice([True, False, False, False]),
    "a function of numpy": lambda: rand() < 0.25,
    "default_rng": lambda: default_rng(3).random() < 0.25,
    "Generator": lambda: Generator(PCG64(3)).random() < 0.25,
    "a generator": lambda: MODULE.random() < 0.25,
    "a RandomState": lambda: LEGACY.rand() < 0.25,
    "a Random": lambda: PYTHON.random() < 0.25,
    "an element of a list": lambda: LISTED[0].random() < 0.25,
    "a value of a dictionary": lambda: NAMED["rng"].random() < 0.25,
    "an attribute of a class": lambda: Holder.of_class.random() < 0.25,
    "an attribute of an object": lambda: HOLDER.own.random() < 0.25,
    "a name of a closure": closed(),
    "a default of an argument": by_default,
    "isinstance": lambda: isinstance(MODULE, Generator) and MODULE.random() < 0.25,
    "children": lambda: MODULE.spawn(2)[1].random() < 0.25,
}
"""Each is true with probability 1/4."""

MISSED: dict[str, tuple[Callable[[], object], str]] = {
    "a tuple": (lambda: HIDDEN[0].random() < 0.25, "numpy"),
    "a partial": (functools.partial(lambda draw: draw() < 0.25, random), "random"),
}
"""With the library that must be named."""

HIDDEN_MAKER = functools.partial(default_rng, 5)


def twins() -> int:
    return int(MODULE.random() < 0.5) + 2 * int(TWIN.random() < 0.5)
