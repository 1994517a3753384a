"""Texts to values. Numbers are exact rationals; every message names the option and its range."""

from __future__ import annotations

import re
from collections.abc import Iterable
from fractions import Fraction

from specdist.errors import SettingsError

_NUMBER = re.compile(r"[+-]?(\d+/0*[1-9]\d*|(\d+\.?\d*|\.\d+)([eE][+-]?\d{1,3})?)", re.ASCII)
_LONGEST = 4000


def near(name: str, known: Iterable[str]) -> str:
    """``did you mean top-p?``, with up to three names; empty when none is near."""
    from difflib import get_close_matches

    close = get_close_matches(name[:80], list(known), n=3, cutoff=0.7)
    return f"did you mean {' or '.join(close)}?" if close else ""


def nearest(name: str, known: Iterable[str]) -> str:
    """What `near` says; the whole list when no name is near."""
    names = list(known)
    return near(name, names) or f"valid names: {', '.join(names)}"


def choice(name: str, text: str, choices: Iterable[str]) -> str:
    """One of ``choices``; SettingsError otherwise."""
    names = tuple(choices)
    if text in names:
        return text
    raise SettingsError(
        f"{name}={text} is not a value of this option",
        expected=" or ".join(names),
        advice=near(text, names),
    )


def rational(name: str, text: str, expected: str) -> Fraction:
    """An exact number such as ``9/10``, ``0.9`` or ``1e-6``; SettingsError otherwise."""
    text = text.strip()
    if len(text) > _LONGEST or not _NUMBER.fullmatch(text):
        raise SettingsError(f"{name}={text[:40]} is not a number", expected=expected)
    return Fraction(text)


def share(name: str, text: str) -> Fraction:
    """A number from 0 to 1."""
    expected = "a number from 0 to 1, as 9/10 or 0.9"
    value = rational(name, text, expected)
    if not 0 <= value <= 1:
        raise SettingsError(f"{name}={text} is out of range", expected=expected)
    return value


def whole(name: str, text: str, least: int) -> int:
    """A whole number of at least ``least``."""
    expected = f"a whole number, {least} or more"
    if not re.fullmatch(r"[+-]?\d{1,18}", text.strip()):
        raise SettingsError(f"{name}={text[:40]} is not a whole number", expected=expected)
    value = int(text)
    if value < least:
        raise SettingsError(f"{name}={text} is out of range", expected=expected)
    return value


def whole_list(name: str, text: str) -> tuple[int, ...]:
    """Token ids, as ``1,2,3``; empty text gives no ids."""
    return tuple(whole(name, part, 0) for part in text.split(",")) if text.strip() else ()


def seconds(name: str, text: str) -> Fraction:
    """A positive number of seconds."""
    expected = "seconds, above 0"
    value = rational(name, text, expected)
    if value <= 0:
        raise SettingsError(f"{name}={text} is out of range", expected=expected)
    return value
