"""Values as they are written in options and recipes, read exactly, and written back."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

from specdist.errors import SettingsError
from specdist.model.recipe import Argument

_NUMBER = re.compile(
    r"[+-]?(?:\d+/\d+|(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d{1,3})?)", flags=re.ASCII
)
_LONGEST = 1_000
_LARGEST = Fraction(10) ** 100
"""Options of this size, multiplied with or divided by each other, still fit into a float64."""
_SHORT = 24
_IDENTIFIER = re.compile(r"\d{1,12}", flags=re.ASCII)

Reader = Callable[[str, str], Argument]
"""Turns (label, text) into an argument; the label is for messages, such as ``top-p``."""


@dataclass(frozen=True, slots=True)
class Interval:
    """The valid range of a number. An ``open`` end does not belong to it; None is unlimited."""

    low: Fraction | None = None
    high: Fraction | None = None
    open_low: bool = False
    open_high: bool = False

    def __contains__(self, value: Fraction) -> bool:
        if self.low is not None and (value < self.low or (self.open_low and value == self.low)):
            return False
        if self.high is None:
            return True
        return value < self.high or (value == self.high and not self.open_high)

    def __str__(self) -> str:
        ends = []
        if self.low is not None:
            ends.append(f"{'above' if self.open_low else 'at least'} {self.low}")
        if self.high is not None:
            ends.append(f"{'below' if self.open_high else 'at most'} {self.high}")
        return " and ".join(ends) or "a number"


def read_number(label: str, text: str) -> Fraction:
    """The exact rational that ``text`` writes: ``9/10``, ``0.9``, ``1e-6``.

    Raises `SettingsError` for anything else, and for sizes that no model has any use for.
    """
    written = text.strip()
    try:
        if len(written) > _LONGEST or not _NUMBER.fullmatch(written):
            raise ValueError(written)
        value = Fraction(written)
    except (ValueError, ZeroDivisionError):
        raise SettingsError(
            f"{label}={shortened(text)} is not a number" if written else f"{label} needs a number",
            expected="an integer, a decimal or a fraction, such as 1, 0.9, 1e-6 or 9/10",
            advice=_advice(written),
        ) from None
    if value and not 1 / _LARGEST <= abs(value) <= _LARGEST:
        raise SettingsError(
            f"{label}={shortened(text)} is out of range: it is too "
            + ("large" if abs(value) > 1 else "close to 0"),
            expected="0, or a number from 1e-100 to 1e100, or the negative of one",
        )
    return value


def _advice(written: str) -> str:
    if len(written) > _LONGEST:
        return f"a number may have {_LONGEST} characters, this one has {len(written)}"
    if re.fullmatch(r".*[eE][+-]?\d{4,}", written, flags=re.ASCII):
        return "an exponent has at most 3 digits; numbers go from 1e-100 to 1e100"
    return ""


def number_within(interval: Interval) -> Reader:
    """A reader of exact numbers that refuses those outside ``interval``."""

    def read(label: str, text: str) -> Fraction:
        value = read_number(label, text)
        if value not in interval:
            raise SettingsError(
                f"{label}={shortened(text)} is out of range: {label} must be {interval}",
                expected=f"a number {interval}" if interval != Interval() else "a number",
            )
        return value

    return read


def count_from(lowest: int, note: str = "") -> Reader:
    """A reader of whole numbers of at least ``lowest``; ``note`` is advice for smaller ones."""

    def read(label: str, text: str) -> int:
        value = read_number(label, text)
        if value.denominator != 1 or value < lowest:
            raise SettingsError(
                f"{label}={shortened(text)} is out of range: "
                f"{label} must be a whole number, at least {lowest}",
                expected=f"a whole number, at least {lowest}",
                advice=note,
            )
        return int(value)

    return read


def one_of(*words: str) -> Reader:
    """A reader of one of some fixed words."""

    def read(label: str, text: str) -> str:
        word = text.strip()
        if word not in words:
            raise SettingsError(
                f"{label}={shortened(text)} is not a choice",
                expected=f"one of {', '.join(words)}",
            )
        return word

    return read


def read_ids(label: str, text: str) -> tuple[int, ...]:
    """Token ids joined with ``+``, in the order written: ``1+2+3``. An empty text is no id."""
    parts = [part.strip() for part in text.split("+")] if text.strip() else []
    for part in parts:
        if not _IDENTIFIER.fullmatch(part):
            raise SettingsError(
                f"{label}={shortened(text)}: {shortened(part)!r} is not a token id",
                expected="token ids joined with '+', such as 1+2+3",
            )
    return tuple(int(part) for part in parts)


def id_set(label: str, text: str) -> tuple[int, ...]:
    """A set of token ids: at least one, none twice, in rising order."""
    ids = read_ids(label, text)
    if not ids:
        raise SettingsError(
            f"{label}= names no token", expected="token ids joined with '+', such as 1+2+3"
        )
    return tuple(sorted(set(ids)))


def id_changes(label: str, text: str) -> tuple[tuple[int, Fraction], ...]:
    """Changes per token id, in rising order of id: ``5=3/2+7=-1``. No id twice."""
    changes: dict[int, Fraction] = {}
    # "+" joins the entries and may also be a sign: split only where an entry begins.
    for entry in re.split(r"\+(?=\s*\d+\s*=)", text.strip(), flags=re.ASCII):
        token, equals, change = entry.partition("=")
        if not equals:
            raise SettingsError(
                f"{label}={shortened(text)}: {shortened(entry)!r} is not ID=NUMBER",
                expected="ID=NUMBER joined with '+', such as 5=3/2+7=-1",
            )
        ids = id_set(label, token)
        if len(ids) != 1 or ids[0] in changes:
            raise SettingsError(
                f"{label}={shortened(text)}: token {shortened(token)} is changed twice",
                expected="each token id once",
            )
        changes[ids[0]] = read_number(f"{label} of token {ids[0]}", change)
    return tuple(sorted(changes.items()))


def written_argument(argument: Argument) -> str:
    """The text that a reader turns back into ``argument``."""
    if isinstance(argument, tuple):
        return "+".join(
            f"{entry[0]}={written_number(entry[1])}" if isinstance(entry, tuple) else str(entry)
            for entry in argument
        )
    return argument if isinstance(argument, str) else written_number(argument)


def written_number(number: Fraction | int) -> str:
    """The number exactly: as a fraction, or as ``1e-100`` where that is a long one."""
    exact = str(number)
    if len(exact) <= _SHORT:
        return exact
    value = Fraction(number)
    twos = (value.denominator & -value.denominator).bit_length() - 1
    fives, rest = 0, value.denominator >> twos
    while rest % 5 == 0:
        fives, rest = fives + 1, rest // 5
    if rest > 1:
        return exact
    exponent = max(twos, fives)
    digits = str(int(value * 10**exponent))
    stripped = digits.rstrip("0")
    written = f"{stripped}e{len(digits) - len(stripped) - exponent}"
    return min(written, exact, key=len)


def shortened(text: str) -> str:
    """At most 40 characters of a text, for messages."""
    return text if len(text) <= 40 else f"{text[:37]}..."
