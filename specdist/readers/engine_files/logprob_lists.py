"""Lists of likely tokens at one position, as they stand in a file.

What such a list says of the tokens that it leaves out is worked out in `likeliest`.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from math import isfinite

from specdist.readers.engine_files.engine_file import Label
from specdist.readers.engine_files.json_node import Node
from specdist.readers.engine_files.logprob_numbers import Absent

Token = int | Label

_REPLACEMENT = "\ufffd"
_REPLACEMENT_BYTES = _REPLACEMENT.encode()
_AGREEMENT = 2.0**-12


class Ranking(StrEnum):
    """How a list was chosen (see `likeliest`)."""

    MERGED = "merged"
    CUT = "cut"
    LIKELIEST = "likeliest"
    SET = "set"
    """The k likeliest in no order; nothing says which of them was sampled (mlx-lm's server)."""
    UNKNOWN = "unknown"
    """Nothing follows for the tokens that are not listed (texts as keys)."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A token and its value: -inf for probability 0, or why it is not known."""

    token: Token
    value: float | Absent
    rank: int | None = None


@dataclass(slots=True)
class TokenList:
    """What an engine wrote of one position, in its order; one entry an id.

    ``sampled`` is the token that stands there, where the file says it, and ``rank`` its rank, from
    1. ``support`` holds the tokens that survived the filters. ``drawn``: the token was drawn from
    this row, and does not stand in a prompt. ``refused`` says why the position must not be used.
    """

    sequence: int
    index: int
    place: str
    entries: list[Entry]
    ranking: Ranking
    sampled: Token | None = None
    rank: int | None = None
    support: tuple[int, ...] | None = None
    drawn: bool = True
    refused: str = ""
    spread: float = 0.0
    """How far two values of the sampled token are apart: two kernels may differ in a last bit."""

    def own(self) -> Entry | None:
        """The entry of the token that stands there."""
        if self.sampled is None:
            return None
        return next((item for item in self.entries if item.token == self.sampled), None)

    def others(self) -> list[Entry]:
        """Every other entry."""
        return [item for item in self.entries if item.token != self.sampled]


def values_of(entries: Iterable[Entry]) -> list[float]:
    """The values that are known, -inf among them."""
    return [value for item in entries if isinstance(value := item.value, float)]


def number_of(item: Entry | None) -> float | None:
    """The value of an entry, where it is known."""
    return None if item is None or isinstance(item.value, Absent) else item.value


def is_lossy(token: Token) -> bool:
    """Whether a label shows bytes that could not be decoded, or nothing: many tokens look the
    same then."""
    if isinstance(token, bytes):
        return not token or _REPLACEMENT_BYTES in token
    return isinstance(token, str) and (not token or _REPLACEMENT in token)


def one_entry_an_id(entries: list[Entry], node: Node) -> list[Entry]:
    """The entries, where no id occurs twice. Raises CaptureError."""
    seen: set[Token] = set()
    for item in entries:
        if isinstance(item.token, int) and item.token in seen:
            raise node.error(f"token id {item.token} is listed twice", expected="one entry an id")
        seen.add(item.token)
    return entries


def with_sampled(found: TokenList, own: Entry, node: Node) -> TokenList:
    """The list with the sampled token ``own``, which stands beside it and perhaps in it. Raises
    CaptureError where its two values differ by more than rounding."""
    found.sampled, found.rank = own.token, own.rank
    there = found.own()
    value, listed = number_of(own), number_of(there)
    if there is None:
        found.entries.append(own)
    elif listed is None:
        found.entries[found.entries.index(there)] = own
    elif value is not None and value != listed:
        apart = abs(value - listed)
        if is_lossy(own.token):
            found.entries.append(own)
        elif isfinite(apart) and apart <= _AGREEMENT * max(1.0, abs(value)):
            found.spread = apart
        else:
            raise node.error(
                f"the token {own.token!r} has the values {value:.9g} and {listed:.9g}",
                expected="one value a token",
            )
    return found
