"""Pieces of two texts around their first difference; what cannot be seen is named by code point."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Sequence

from specdist.model.texts import Excerpt, Key

_AROUND = 16
_TOKENS_AROUND = 4
_SPACES = {" "}
_INVISIBLE = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp", "Zs", "Mn", "Me"})


def first_difference(first: Sequence[object] | str, second: Sequence[object] | str) -> int | None:
    """The index at which two sequences part, or at which one of them ends; None where they are the
    same."""
    shorter = min(len(first), len(second))
    if first[:shorter] == second[:shorter]:
        return None if len(first) == len(second) else shorter
    return next(i for i in range(shorter) if first[i] != second[i])


def character_excerpt(text: str, index: int) -> Excerpt:
    """The character at ``index`` with its neighbours; None where the text has ended."""
    before = repr(text[max(0, index - _AROUND) : index])
    if index >= len(text):
        return Excerpt(before, None, "")
    return Excerpt(before, shown(text[index]), repr(text[index + 1 : index + 1 + _AROUND]))


def token_excerpt(keys: Sequence[Key], index: int, text_of: Callable[[int], str | None]) -> Excerpt:
    """The token at ``index`` with its neighbours; None where the output has ended."""

    def named(piece: Sequence[Key]) -> str:
        return " ".join(token(key, text_of) for key in piece)

    before = named(keys[max(0, index - _TOKENS_AROUND) : index])
    if index >= len(keys):
        return Excerpt(before, None, "")
    here = token(keys[index], text_of)
    return Excerpt(before, here, named(keys[index + 1 : index + 1 + _TOKENS_AROUND]))


def token(key: Key, text_of: Callable[[int], str | None]) -> str:
    """A token by its id, and its text where that is known."""
    if isinstance(key, bytes):
        try:
            text = key.decode("utf-8", "surrogatepass")
        except UnicodeDecodeError:
            return repr(key)
        return repr(text) + (f" ({_code_points(text)})" if _hidden(text) else "")
    text = text_of(key) or ""
    return f"{key} {text!r}" if text else str(key)


def shown(character: str) -> str:
    """One character, with its code point and name where it cannot be told by sight."""
    if not _hidden(character) and character.isascii():
        return repr(character)
    name = unicodedata.name(character, "")
    return f"{character!r} ({_code_points(character)}{f' {name}' if name else ''})"


def _hidden(text: str) -> bool:
    return bool(text) and all(
        unicodedata.category(char) in _INVISIBLE and char not in _SPACES for char in text
    )


def _code_points(text: str) -> str:
    points = [f"U+{ord(char):04X}" for char in text[:4]]
    return " ".join(points) + (" ..." if len(text) > 4 else "")
