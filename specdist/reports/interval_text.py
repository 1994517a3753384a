"""Intervals as text: exact ends where they are short, else digits rounded outwards."""

from __future__ import annotations

from fractions import Fraction

from specdist.exact.interval import Interval
from specdist.exact.outward import outward_text
from specdist.reports.figure_text import Numerals, fraction

_LONGEST_DENOMINATOR = 9999
_NARROW = 1000
"""An interval is narrow if it is this much smaller than the numbers in it."""


def interval(shown: Interval, numerals: Numerals, digits: int = 6) -> str:
    """``17/20``, ``0 to 1/8`` or ``0.723401 to 0.729855``."""
    if shown.closed and _is_short(shown.least, numerals):
        return fraction(shown.least)
    least = _end(shown.least, numerals, digits, up=False)
    most = _end(shown.most, numerals, digits, up=True)
    return least if least == most else f"{least} to {most}"


def at_most(value: Fraction, numerals: Numerals) -> str:
    """A bound from above in two digits, exact where it is short."""
    return _end(value, numerals, 2, up=True)


def cell(shown: Interval, numerals: Numerals, digits: int = 6) -> str:
    """Like `interval`; a narrow interval around a number is ``0.499998 ±2e-06``."""
    middle = (shown.least + shown.most) / 2
    if numerals.exact or shown.width * _NARROW > middle or _is_short_ends(shown):
        return interval(shown, numerals, digits)
    text = outward_text(middle, True, digits)
    off = max(abs(shown.most - Fraction(text)), abs(Fraction(text) - shown.least))
    return f"{text} ±{outward_text(off, True, 1)}"


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


def _is_short_ends(shown: Interval) -> bool:
    return max(shown.least.denominator, shown.most.denominator) <= _LONGEST_DENOMINATOR


def _is_short(value: Fraction, numerals: Numerals) -> bool:
    return numerals.exact or value.denominator <= _LONGEST_DENOMINATOR
