"""The width of the page: 80 columns, or those of a terminal that is narrower, down to 60.

Reports in files, pipes and wider terminals are 80 columns wide, so that they are the same
everywhere. On a narrower terminal tables leave columns out rather than wrap; which ones, the report
says below (`left_out`).
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field

WIDTH = 80
NARROWEST = 60
_LEAVES_FIRST = (
    "recovered", "residual", "tested", "accepted", "drafted", "within", "at least", "bonus",
    "rounding", "variation", "tokens",
)  # fmt: skip
_STAYS = frozenset({"reference", "output", "verdict", "agree", "differ", "position"})
_SHORTEST = 8


@dataclass(slots=True)
class _Page:
    """``room`` is what a table may take; None while its numbers may still be shortened."""

    width: int = WIDTH
    room: int | None = None
    left_out: dict[str, None] = field(default_factory=dict)


_WHOLE = _Page()
_PAGE: ContextVar[_Page] = ContextVar("page")


def _page() -> _Page:
    return _PAGE.get(_WHOLE)


def columns() -> int:
    """The width of the page in columns."""
    return _page().width


@contextmanager
def at(width: int) -> Iterator[None]:
    """A page of that width: never wider than 80 columns, never narrower than 60."""
    narrow = min(max(width, NARROWEST), WIDTH)
    token = _PAGE.set(_Page(narrow, narrow - 2))
    try:
        yield
    finally:
        _PAGE.reset(token)


@contextmanager
def table_room(room: int | None) -> Iterator[None]:
    """What tables may take meanwhile; None: whatever they need."""
    here = _page()
    before, here.room = here.room, room
    try:
        yield
    finally:
        here.room = before


def is_narrow() -> bool:
    """Whether the page is narrower than 80 columns."""
    return columns() < WIDTH


def kept_columns(header: Sequence[str], widths: Sequence[int], left: int, gap: int) -> list[int]:
    """The columns of a table that fit, by index: all of them on a page of full width. The first
    ``left`` ones name the rows and stay; so does the last one, which says what it comes to."""
    kept = list(range(len(header)))
    here = _page()
    if not is_narrow() or here.room is None:
        return kept

    def order(index: int) -> tuple[int, int]:
        name = header[index]
        known = name in _LEAVES_FIRST
        return _LEAVES_FIRST.index(name) if known else len(_LEAVES_FIRST), -index

    def total() -> int:
        # The gap stands before every column behind the named ones; two blanks between those.
        return sum(widths[i] for i in kept) + sum(2 if i <= left else gap for i in kept[1:])

    may_go = [i for i in sorted(range(left, len(header) - 1), key=order) if header[i] not in _STAYS]
    for index in may_go:
        if total() <= here.room:
            break
        kept.remove(index)
        here.left_out[header[index]] = None
    return kept


def name_room(widths: Sequence[int], left: int, gap: int) -> int:
    """What the names of rows may take where nothing else is left to give way."""
    here = _page()
    if not is_narrow() or here.room is None or left < 1 or not widths:
        return widths[0] if widths else 0
    total = sum(widths) + sum(2 if i <= left else gap for i in range(1, len(widths)))
    return widths[0] if total <= here.room else max(widths[0] - (total - here.room), _SHORTEST)


def shortened(name: str, most: int) -> str:
    """A name that is cut in its middle where it is longer than ``most``."""
    if len(name) <= most:
        return name
    head = (most - 3 + 1) // 2
    return f"{name[:head]}...{name[len(name) - (most - 3 - head) :]}"


def left_out() -> list[str]:
    """The columns that tables left out so far, as a sentence; nothing where none did."""
    names = ", ".join(name for name in _page().left_out if name)
    if not names:
        return []
    words = f"columns left out at this width: {names} (shown from {WIDTH} columns on)"
    return wrap_words(words, columns())


def wrap_words(text: str, width: int) -> list[str]:
    """The words of a sentence on lines of at most ``width``."""
    return textwrap.wrap(text, width, subsequent_indent="  ", break_long_words=False)
