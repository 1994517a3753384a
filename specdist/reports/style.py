"""Colour for the terminal report: a few ANSI codes, so that a short run need not load rich.

Meaning never rests on colour: every painted word says the same without it.
"""

from __future__ import annotations

from dataclasses import dataclass

_RESET = "\x1b[0m"
_CODES = {"bad": "\x1b[1;31m", "warn": "\x1b[1;33m", "good": "\x1b[1;32m", "dim": "\x1b[2m"}
_CODES |= {"name": "\x1b[1m", "place": "\x1b[36m"}


@dataclass(frozen=True, slots=True)
class Paint:
    """Wraps text in a colour, or returns it unchanged when ``colour`` is off."""

    colour: bool = False

    def __call__(self, style: str, text: str) -> str:
        return f"{_CODES[style]}{text}{_RESET}" if self.colour and text else text


PLAIN = Paint()
