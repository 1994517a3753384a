"""Caches that are not what was emitted: the rows of the next step follow a stale context.

``context`` is what was emitted, x the draft tokens of a step, n how many were accepted, y the token
after them. A stale draft row is harmless where the same row is drawn from and tested with.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from specdist.audit.known_faults.rows import Emitted, Fault, Rows, Step
from specdist.audit.known_faults.token_chain import ending, ratio
from specdist.audit.tables import Tokens

Kept = Callable[[Rows, int, Tokens], Tokens]
"""What a step leaves in the cache, from its rows, n and y; y is empty where no token followed."""


def whole(rows: Rows, n: int, y: Tokens) -> Tokens:
    """Every draft token, rejected ones too, then y."""
    return rows.tokens(rows.gamma) + y


def rejected_in_place(rows: Rows, n: int, y: Tokens) -> Tokens:
    """The rejected draft token where y belongs."""
    return rows.tokens(n + 1) if n < rows.gamma else rows.tokens(n) + y


def without_last(rows: Rows, n: int, y: Tokens) -> Tokens:
    """The accepted tokens, y missing."""
    return rows.tokens(n)


def without_recovered(rows: Rows, n: int, y: Tokens) -> Tokens:
    """y missing after a rejection."""
    return rows.tokens(n) + (y if n == rows.gamma else ())


def without_bonus(rows: Rows, n: int, y: Tokens) -> Tokens:
    """y missing after full acceptance."""
    return rows.tokens(n) + (y if n < rows.gamma else ())


def emitted(rows: Rows, n: int, y: Tokens) -> Tokens:
    """What was emitted."""
    return rows.tokens(n) + y


def nothing(rows: Rows, n: int, y: Tokens) -> Tokens:
    """No token."""
    return ()


class Cached:
    """The token rule over caches; ``sides`` are the models whose cache is stale. ``forgets``: the
    cache holds the last step alone."""

    def __init__(self, kept: Kept, sides: str, forgets: bool = False) -> None:
        self._kept, self._sides, self._forgets = kept, sides, forgets
        self._cache: Tokens = ()

    def __call__(self, rows: Rows) -> Iterator[Emitted]:
        """One step; its cache is written when it is over."""
        if "target" in self._sides:
            rows.target_context = self._cache
        if "draft" in self._sides:
            rows.draft_context = self._cache
        n = 0
        while n < rows.gamma and rows.coin(ratio(rows, n)):
            yield rows.token(n)
            n += 1
        y = tuple(map(rows.draw, ending(rows, n)))
        yield from y
        added = self._kept(rows, n, y)
        self._cache = added if self._forgets else self._cache + added


def _fault(name: str, kept: Kept, sides: str, forgets: bool = False) -> Fault:
    def begin() -> Step:
        return Cached(kept, sides, forgets)

    return Fault(name, begin, stateful=True)


def _both(name: str, kept: Kept) -> tuple[Fault, Fault]:
    return (
        _fault(f"{name} (target)", kept, "target"),
        _fault(f"{name} (target and draft)", kept, "target draft"),
    )


CACHES = (
    *_both("cache not rolled back: rejected draft tokens stay in the context", whole),
    *_both("cache keeps the rejected draft token in place of the recovered one", rejected_in_place),
    *_both("cache lacks the last token of the step before", without_last),
    *_both("cache lacks the recovered token", without_recovered),
    *_both("cache lacks the bonus token", without_bonus),
    _fault("cache holds the last step only (target)", emitted, "target", True),
    _fault("cache holds the last step only (target and draft)", emitted,
           "target draft", True),
    _fault("cache is not updated: every step reads the first context (target)",
           nothing, "target"),
    _fault("cache is not updated: every step reads the first context (target and draft)",
           nothing, "target draft"),
)  # fmt: skip
