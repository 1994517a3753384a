"""Texts of captures made fit for files that other programs read.

Step ids, file names and token texts hold any character. What XML 1.0 forbids (most control
characters, surrogates, U+FFFE and U+FFFF; https://www.w3.org/TR/xml/#charsets), what JSON readers
refuse (lone surrogates) and what turns the order of a line around (bidirectional controls) is
written as Python writes it: ``\\x1b``, ``\\udc80``, ``\\u202e``.
"""

from __future__ import annotations

import re

_UNFIT = (
    "\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069"
    "\ud800-\udfff\ufeff\ufffe\uffff"
)
_ANYWHERE = re.compile(f"[{_UNFIT}]")
_IN_A_LINE = re.compile(f"[\t\n{_UNFIT}]")
_CUT = " ... (cut)"


def printable(text: str) -> str:
    """The text with escapes for what is unfit; line breaks and tabs stay."""
    return _ANYWHERE.sub(_escaped, text)


def one_line(text: str) -> str:
    """The text on one line: line breaks and tabs are escaped too."""
    return _IN_A_LINE.sub(_escaped, text)


def cut(text: str, most: int) -> str:
    """The text in at most ``most`` bytes of UTF-8; says so where something was cut off."""
    encoded = text.encode("utf-8", "backslashreplace")
    if len(encoded) <= most:
        return text
    return encoded[: most - len(_CUT)].decode("utf-8", "ignore") + _CUT


def _escaped(found: re.Match[str]) -> str:
    char = found.group()
    named = {"\t": "\\t", "\n": "\\n", "\r": "\\r"}
    code = ord(char)
    return named.get(char) or (f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}")
