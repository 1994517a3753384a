"""Advice about names: the nearest valid one, and how a list of them is shown."""

from __future__ import annotations

from collections.abc import Iterable, Sequence


def nearest(word: str, choices: Iterable[str]) -> str:
    """``did you mean 'x'?`` for the closest choice, else the list of all choices."""
    from difflib import get_close_matches

    known = list(choices)
    close = get_close_matches(word[:80], known, n=1, cutoff=0.6)
    if close:
        return f"did you mean {close[0]!r}?"
    return f"known here: {listing(known)}"


def listing(names: Sequence[str], limit: int = 12) -> str:
    """Names joined by commas, cut after ``limit`` of them with the number left out."""
    shown = ", ".join(shorten(name) for name in names[:limit])
    more = len(names) - limit
    return f"{shown} and {more} more" if more > 0 else shown or "none"


def shorten(text: str, limit: int = 60) -> str:
    """One printable line of at most ``limit`` characters."""
    plain = text if text.isprintable() else text.encode("unicode_escape").decode("ascii")
    return plain if len(plain) <= limit else plain[: limit - 3] + "..."


def first_repeated(names: Iterable[str]) -> str:
    """The first name that occurs a second time; empty when none does."""
    seen: set[str] = set()
    for name in names:
        if name in seen:
            return name
        seen.add(name)
    return ""


def shape_text(shape: Sequence[int]) -> str:
    """``[60, 4096]``."""
    return "[" + ", ".join(str(size) for size in shape) + "]"
