"""A column of differences: fractions with their decimals beside them, or digits alone."""

from __future__ import annotations

from collections.abc import Sequence

from specdist.model.figure import Figure
from specdist.reports.figure_text import Numerals, signed_decimal

TITLE = "output - reference"


def differences(figures: Sequence[Figure], numerals: Numerals, digits: int) -> list[str]:
    """``-1/16  -0.0625`` for each, one below the other; ``-0.0625`` where one has no short
    fraction."""
    signed = [numerals.signed(figure, digits) for figure in figures]
    if not all(numerals.is_fraction(figure) for figure in figures):
        return signed
    decimals = ["" if figure.exact == 0 else signed_decimal(figure) for figure in figures]
    left = max(map(len, signed), default=0)
    right = max(map(len, decimals), default=0)
    return [f"{one:>{left}}  {other:<{right}}" for one, other in zip(signed, decimals, strict=True)]
