"""Caches that are not what was emitted: the rows of the next step follow a stale context.

``context`` is what was emitted, x the draft tokens of a step, n how many were accepted, y the token
after them. A stale draft row is harmless where the same row is drawn from and tested with.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from specdist.audit.known_faults.rows import Fault, Rows, Step
from specdist.audit.known_faults.token_chain import accepted, ending
from specdist.audit.tables import Tokens

Kept = Callable[[Tokens, int, Tokens], Tokens]
"""(x, n, y) -> what a step leaves in the cache; y is empty where no token followed."""


def whole(x: Tokens, n: int, y: Tokens) -> Tokens:
    """Every draft token, rejected ones too, then y."""
    return x + y


def rejected_in_place(x: Tokens, n: int, y: Tokens) -> Tokens:
    """The rejected draft token where y belongs."""
    return x[: n + 1] if n < len(x) else x + y


def without_last(x: Tokens, n: int, y: Tokens) -> Tokens:
    """The accepted tokens, y missing."""
    return x[:n]


def without_recovered(x: Tokens, n: int, y: Tokens) -> Tokens:
    """y missing after a rejection."""
    return x[:n] if n < len(x) else x + y


def without_bonus(x: Tokens, n: int, y: Tokens) -> Tokens:
    """y missing after full acceptance."""
    return x[:n] + (y if n < len(x) else ())


def only_emitted_of_last(x: Tokens, n: int, y: Tokens) -> Tokens:
    """x and y as emitted."""
    return x[:n] + y


class Cached:
    """The token rule over caches; ``sides`` are the models whose cache is stale. ``forgets``: the
    cache holds the last step alone."""

    def __init__(self, kept: Kept, sides: str, forgets: bool = False) -> None:
        self._kept, self._sides, self._forgets = kept, sides, forgets
        self._cache: Tokens = ()

    def __call__(self, rows: Rows) -> Iterator[int]:
        """One step; what it leaves in the cache is there before the first token is yielded."""
        if "target" in self._sides:
            rows.target_context = self._cache
        if "draft" in self._sides:
            rows.draft_context = self._cache
        n = accepted(rows)
        y = ending(rows, n)
        x = rows.tokens(rows.gamma)
        added = self._kept(x, n, y)
        self._cache = added if self._forgets else self._cache + added
        yield from (*x[:n], *y)


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
    _fault("cache holds the last step only (target)", only_emitted_of_last, "target", True),
    _fault("cache holds the last step only (target and draft)", only_emitted_of_last,
           "target draft", True),
    _fault("cache is not updated: every step reads the first context (target)",
           lambda x, n, y: (), "target"),
    _fault("cache is not updated: every step reads the first context (target and draft)",
           lambda x, n, y: (), "target draft"),
)  # fmt: skip
