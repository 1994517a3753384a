"""The tokens that a row does not list and that may be possible."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace


@dataclass(frozen=True, eq=False)
class Unlisted:
    """The ids below ``size`` that are neither in ``outside`` (rising) nor in ``apart``; where
    ``inside`` is given, its ids instead. ``number``: how many these are (None: nothing bounds it),
    ``limit``: how many of them can be possible (None: all). ``open_ended``: ``size`` is only the
    smallest that it can be."""

    size: int
    outside: Sequence[int]
    number: int | None
    limit: int | None = None
    open_ended: bool = False
    apart: frozenset[int] = frozenset()
    inside: frozenset[int] | None = None

    @property
    def count(self) -> int | None:
        """How many tokens are possible at most; None: any number."""
        if self.number is None or self.limit is None:
            return self.limit if self.number is None else self.number
        return min(self.number, self.limit)

    def holds(self, token: int) -> bool:
        if self.count == 0 or token in self.apart:
            return False
        if self.inside is not None:
            return token in self.inside
        if not 0 <= token < self.size:
            return False
        place = bisect_left(self.outside, token)
        return place == len(self.outside) or self.outside[place] != token

    def among(self, tokens: Collection[int]) -> list[int]:
        """Those of some tokens that it holds, rising."""
        return [token for token in sorted(set(tokens)) if self.holds(token)]

    def ids(self) -> list[int]:
        """All its ids below the size."""
        if self.inside is not None:
            return [token for token in sorted(self.inside) if self.holds(token)]
        gone = set(map(int, self.outside)) | self.apart
        return [] if self.count == 0 else [x for x in range(self.size) if x not in gone]

    @property
    def first(self) -> int:
        """No id of its own is smaller."""
        if self.inside is not None:
            return min(self.inside, default=0)
        listed = self.outside
        return bisect_left(range(len(listed)), True, key=lambda at: listed[at] != at)

    @property
    def last(self) -> int | None:
        """No id of its own is larger; None: it may be any."""
        if self.inside is not None:
            return max(self.inside, default=0)
        if self.open_ended:
            return None
        listed, end = self.outside, self.size - 1
        run = bisect_left(range(len(listed)), True, key=lambda at: listed[-1 - at] != end - at)
        return end - run

    def without(self, tokens: Collection[int]) -> Unlisted:
        """The same without some tokens, which it holds."""
        number = None if self.number is None else self.number - len(tokens)
        return replace(self, number=number, apart=self.apart | frozenset(tokens))

    def at_most(self, limit: int | None) -> Unlisted:
        """The same, of which no more than ``limit`` are possible (None: any number)."""
        if limit is None or (self.limit is not None and self.limit <= limit):
            return self
        return replace(self, limit=limit)
