"""Whole numbers and rates of a JSON document, with the precision in which they are written."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from specdist.errors import CaptureError
from specdist.model.counters import Rate, Reported
from specdist.readers.json_numbers import NumberError, number, type_name
from specdist.readers.naming import shorten

_LARGEST = 1 << 62
_FLOAT_DIGITS = 15
_BY_POSITION = (Rate.UNCONDITIONAL, Rate.CONDITIONAL)


def count(value: Any, place: str) -> int:
    """A count: a whole number from 0, also where it is written as 8.0. Raises CaptureError."""
    try:
        found = None if isinstance(value, bool) else number(value)
    except NumberError:
        found = None
    if found is None or found.denominator != 1 or not 0 <= found < _LARGEST:
        raise CaptureError(
            f"{_shown(value)} is not a count", place=place, expected="a whole number from 0"
        )
    return int(found)


def optional_count(document: dict[str, Any], key: str, place: str) -> int | None:
    """The count under a key; None where it is missing or null."""
    value = document.get(key)
    return None if value is None else count(value, f"{place}.{key}")


def counts(value: Any, place: str) -> tuple[int, ...]:
    """A list of counts. Raises CaptureError."""
    if not isinstance(value, list):
        raise CaptureError(
            f"a list of counts cannot be {type_name(value)}", place=place, expected="[3, 0, 1]"
        )
    return tuple(count(item, f"{place}[{i}]") for i, item in enumerate(value))


def optional_counts(document: dict[str, Any], key: str, place: str) -> tuple[int, ...] | None:
    """The list of counts under a key; None where it is missing or null."""
    value = document.get(key)
    return None if value is None else counts(value, f"{place}.{key}")


def reported(
    document: dict[str, Any], key: str, rate: Rate, place: str, percent: bool = False
) -> tuple[Reported, ...]:
    """The rate under a key, for rates by position the list of them; nothing where it is missing or
    null. Raises CaptureError."""
    value = document.get(key)
    if value is None:
        return ()
    where = f"{place}.{key}"
    if isinstance(value, list) is not (rate in _BY_POSITION):
        raise CaptureError(
            f"{type_name(value)} stands for {key}",
            place=where,
            expected="a list of rates by position" if rate in _BY_POSITION else "one rate",
        )
    many = isinstance(value, list)
    items = [(x, f"{where}[{i}]") for i, x in enumerate(value)] if many else [(value, where)]
    pairs = [rate_of(item, inner, percent) for item, inner in items]
    return (Reported(key, rate, tuple(v for v, _ in pairs), tuple(h for _, h in pairs), percent),)


def rate_of(value: Any, place: str, percent: bool = False) -> tuple[Fraction, Fraction]:
    """A rate and half a unit of its last written digit; of a float64 written out, its spacing.
    Raises CaptureError."""
    try:
        found = None if isinstance(value, bool) else number(value)
    except NumberError:
        found = None
    if found is None or not 0 <= found < _LARGEST:
        raise CaptureError(
            f"{_shown(value)} is not a rate", place=place, expected="a number from 0"
        )
    half = half_unit(str(value))
    return (found / 100, half / 100) if percent else (found, half)


def half_unit(text: str) -> Fraction:
    """How far a number that was rounded to ``text`` may be from it."""
    plain, _, power = text.lower().partition("e")
    digits = plain.partition(".")[2]
    scale = Fraction(10) ** (int(power or 0) - len(digits))
    if sum(character.isdigit() for character in plain.lstrip("-0.")) >= _FLOAT_DIGITS:
        return (
            abs(Fraction(text)) / 2**50
        )  # a float64 written out: an arithmetic error of some ulps
    return scale / 2


def _shown(value: Any) -> str:
    return shorten(str(value), 40) if isinstance(value, int | str) else type_name(value)
