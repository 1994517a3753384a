"""Streams of random numbers: a seed names one, and a generator stands somewhere in it.

What a stream holds at a place is drawn once in a run, when a generator first comes there. A second
generator of the same seed, or one that is seeded or set back, gets the same numbers again: so code
that seeds in every step is found, and code that seeds once is not blamed for it.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from typing import Any, NoReturn, Self

from specdist.audit.context import Context
from specdist.audit.uniform import refuse

REUSED = "reused randomness: a generator came to the same place of its stream again"

Made = tuple[Hashable, Any]


@dataclass(slots=True)
class Place:
    """Where a generator stands in a stream: ``made`` is what was drawn of the stream so far, each
    with the way it was asked for; ``named`` whether a seed names the stream."""

    made: list[Made]
    named: bool
    position: int = 0
    children: int = 0

    def next(self, run: Context, asked: Hashable, draw: Callable[[], Any]) -> Any:
        """What comes next: drawn, or what an earlier generator drew here.

        Raises RefusalError where that was asked for in another way.
        """
        self.position += 1
        if self.position > len(self.made):
            self.made.append((asked, draw()))
            return self.made[-1][1]
        known, found = self.made[self.position - 1]
        if known != asked:
            raise refuse(
                "one place of a stream that is drawn from in two ways",
                "seed once, or draw in the same order after the same seed",
            )
        run.notes.add(REUSED)
        return found


@dataclass(frozen=True, eq=False)
class Mark:
    """A place that was asked for, to come back to: what ``get_state`` gives."""

    place: Place = field(repr=False)

    def __deepcopy__(self, _: Any) -> Self:
        """The same: a copy of a generator draws the same numbers."""
        return self

    def __reduce__(self) -> NoReturn:
        raise refuse("a generator that is pickled", "copy it, or seed another")


def begun(run: Context, key: Hashable) -> Place:
    """The beginning of the stream that a seed names; of a fresh one for None."""
    if key is None:
        return Place([], False)
    return Place(run.streams.setdefault(("stream", key), []), True)


def place_of(run: Context, generator: object, key: Hashable) -> Place:
    """Where a generator stands in this run; at the beginning, if it was not asked yet."""
    known: tuple[Place, object] | None = run.streams.get(("place", id(generator)))
    if known is None:
        return put(run, generator, begun(run, key))
    return known[0]


def put(run: Context, generator: object, place: Place) -> Place:
    """Puts a generator at a place."""
    run.streams["place", id(generator)] = (place, generator)
    return place


def marked(place: Place) -> Mark:
    """Remembers a place."""
    return Mark(Place(place.made, place.named, place.position, place.children))


def returned(run: Context, generator: object, mark: Any) -> None:
    """Puts a generator back. Raises RefusalError for what is no mark of this run."""
    if not isinstance(mark, Mark):
        raise refuse("a state that was not asked for in this run", "seed the generator")
    put(run, generator, marked(mark.place).place)
