"""Lines "index: value", as llama-debug and the scripts of llama.cpp's model-conversion print a row.

A C++ stream prints 6 significant digits and leaves out zeros at the end; the scripts print 6
decimals. The value that was printed lies within half a unit of the last place, and the place of
that unit is read off the text: where all numbers have equally many decimals they are fixed, and

    half width = 10^-decimals / 2;

otherwise every number has the most significant digits that occur, d, so the largest magnitude
decides: half width = 10^(e - d + 1) / 2 for a largest magnitude from 10^e to below 10^(e + 1).
"""

from __future__ import annotations

import re
from fractions import Fraction

import numpy as np

from specdist.errors import CaptureError, RowError
from specdist.model.row import FloatValues, ListedValues
from specdist.readers.axes import VOCAB_LIMIT
from specdist.readers.naming import shorten
from specdist.readers.sources import LocalFile, read_document_bytes
from specdist.readers.strict_json import decode

_LINE = re.compile(r"(\d{1,9}): *(\S{1,40})", re.ASCII)
_NUMBER = re.compile(r"[-+]?(\d*)(?:\.(\d*))?(?:[eE]([-+]?\d{1,3}))?", re.ASCII)


def text_row(file: LocalFile) -> ListedValues:
    """The row of a text, with the half width of its digits. Raises CaptureError and RowError."""
    lines = decode(read_document_bytes(file), file.name).split("\n")
    while lines and not lines[-1].strip():
        lines.pop()
    if not 0 < len(lines) <= VOCAB_LIMIT:
        raise CaptureError(f"{len(lines)} lines", place=file.name, expected="a line a token")
    texts = [_value(line, at, file.name) for at, line in enumerate(lines)]
    values = np.array([float(text) for text in texts])
    width = _half_width(texts) + Fraction(float(np.abs(values).max())) / 2**53
    return ListedValues(np.arange(len(texts)), FloatValues(values), len(texts), half_width=width)


def _value(line: str, at: int, name: str) -> str:
    found = _LINE.fullmatch(line.strip())
    place = f"{name}, line {at + 1}"
    if found is None or int(found[1]) != at:
        raise CaptureError(
            f"{shorten(line, 40)!r} is not the value of token {at}",
            place=place,
            expected=f"{at}: VALUE",
        )
    number = _NUMBER.fullmatch(found[2])
    if number is None or not (number[1] or number[2]):
        raise RowError(f"{found[2]!r} in a row", place=place, expected="a finite number")
    return found[2]


def _half_width(texts: list[str]) -> Fraction:
    """Half a unit in the last place; see the module."""
    parts = [_parts(text) for text in texts]
    decimals = {number[1] for number in parts}
    if len(decimals) == 1 and not any("e" in text.lower() for text in texts):
        return Fraction(1, 2 * 10 ** decimals.pop())
    digits = max(number[0] for number in parts)
    top = max((number[2] for number in parts if number[2] is not None), default=0)
    return Fraction(10) ** (top - digits + 1) / 2


def _parts(text: str) -> tuple[int, int, int | None]:
    """Significant digits, decimals, and the decimal exponent of the first digit (None for 0)."""
    found = _NUMBER.fullmatch(text)
    if found is None:
        raise ValueError(text)
    whole, fraction, power = found[1], found[2] or "", int(found[3] or 0)
    digits = (whole + fraction).lstrip("0")
    if not digits:
        return 1, len(fraction), None
    return len(digits), len(fraction), len(digits) - len(fraction) - 1 + power
