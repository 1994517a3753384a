"""Intervals as text: exact ends where they are short, else digits rounded outwards."""

from __future__ import annotations

from fractions import Fraction

from specdist.exact.interval import Interval
from specdist.exact.outward import outward_text
from specdist.reports.figure_text import Numerals, fraction

_LONGEST_DENOMINATOR = 9999


def interval(shown: Interval, numerals: Numerals, digits: int = 6) -> str:
    """``17/20``, ``0 to 1/8`` or ``0.723401 to 0.729855``."""
    if shown.closed and _is_short(shown.least, numerals):
        return fraction(shown.least)
    least = _end(shown.least, numerals, digits, up=False)
    most = _end(shown.most, numerals, digits, up=True)
    return least if least == most else f"{least} to {most}"


def rate(shown: Interval, numerals: Numerals) -> str:
    """Like `interval`, with decimals beside fractions: ``3/5 to 17/20 = 0.6 to 0.85``."""
    text = interval(shown, numerals)
    if "/" not in text:
        return text
    least, most = outward_text(shown.least, False, 4), outward_text(shown.most, True, 4)
    return f"{text} = {least if shown.closed or least == most else f'{least} to {most}'}"


def _end(value: Fraction, numerals: Numerals, digits: int, up: bool) -> str:
    if _is_short(value, numerals):
        return fraction(value)
    return outward_text(value, up, digits)


def _is_short(value: Fraction, numerals: Numerals) -> bool:
    return numerals.exact or value.denominator <= _LONGEST_DENOMINATOR
