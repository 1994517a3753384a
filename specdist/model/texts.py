"""Two recorded outputs and what comparing them shows. A match of texts is never that of laws."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction

from specdist.model.row import Kind, NumberFormat

Key = int | bytes
"""What a token is known by: its id, or the bytes of its text."""


class Match(StrEnum):
    """What the comparison of two outputs comes to; none of these words speaks of a law."""

    IDENTICAL = "identical"
    NEAR_TIE = "near-tie"
    OPEN = "open"
    UNEXPLAINED = "unexplained"
    EMPTY = "empty"


class Tells(StrEnum):
    """What the values of one run tell: a margin, that it did not take the likeliest token, or
    nothing."""

    MARGIN = "margin"
    SAMPLED = "sampled"
    NOTHING = "nothing"


@dataclass(frozen=True, slots=True)
class Given:
    """The value of one token in a row. ``masked``: minus infinity. Neither: it is not listed."""

    value: Fraction | None = None
    masked: bool = False


@dataclass(frozen=True, slots=True)
class TokenValues:
    """The values of one position. ``largest`` is the largest of them, ``cap`` bounds a value that
    is not listed, and each is within ``half_width`` of the number that it stands for."""

    kind: Kind
    numbers: NumberFormat
    place: str
    of: Callable[[Key], Given]
    largest: Fraction | None
    half_width: Fraction = Fraction(0)
    cap: Fraction | None = None


def no_values(index: int) -> TokenValues | None:
    """The values of an output that carries none."""
    return None


@dataclass(frozen=True, slots=True)
class Output:
    """One recorded output: its text, or its tokens, or both. ``values_at`` gives the values of a
    token's position; ``finish`` is the reason for its end, as the file says it; ``prompt`` is what
    it answers, where the file says that."""

    place: str
    text: str | None = None
    keys: tuple[Key, ...] | None = None
    values_at: Callable[[int], TokenValues | None] = no_values
    finish: str = ""
    prompt: str | tuple[int, ...] | None = None
    temperature: str = ""


@dataclass(frozen=True, slots=True)
class Recorded:
    """The outputs of one file. ``form`` says in words what the file is; ``remark`` why its values
    could not be read, where it has any."""

    source: str
    form: str
    outputs: tuple[Output, ...]
    remark: str = ""


@dataclass(frozen=True, slots=True)
class Excerpt:
    """One side of a difference. ``here`` is what stands there, None where the output has ended."""

    before: str
    here: str | None
    after: str


@dataclass(frozen=True, slots=True)
class Weighed:
    """The two tokens in the values of one run. ``spacing`` is that of ``numbers`` at the larger
    magnitude; numbers that are not known are None. ``says`` is the conclusion in words."""

    source: str
    place: str
    match: Match
    tells: Tells
    says: str
    kind: str = ""
    emitted: Fraction | None = None
    other: Fraction | None = None
    margin: Fraction | None = None
    spacing: Fraction | None = None
    numbers: str = ""


@dataclass(frozen=True, slots=True)
class Difference:
    """The first difference of two outputs, at ``index`` from 0."""

    index: int
    first: Excerpt
    second: Excerpt
    weighed: tuple[Weighed, ...] = ()
    reason: str = ""


@dataclass(frozen=True, slots=True)
class OutputPair:
    """Two outputs compared. ``unit`` is "token" or "character"; ``compared`` how many of it were
    found the same, before the first difference or up to the end of both."""

    index: int
    places: tuple[str, str]
    match: Match
    unit: str
    compared: int
    lengths: tuple[int, int]
    difference: Difference | None = None
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class TextsReport:
    """Everything that ``check --texts`` found out; the exit code is a function of it alone."""

    version: str
    sources: tuple[str, str]
    forms: tuple[str, str]
    match: Match
    pairs: tuple[OutputPair, ...]
    counts: Mapping[Match, int]
    sampling: str
    notes: tuple[str, ...]
    scope: tuple[str, ...]
    settings: Mapping[str, str]
