"""The string-level draft law: which target token the text of the draft begins with.

``psi(t)`` sums over all ways in which draft tokens, drawn independently, make a text of some
length whose greedy longest match begins with target token t (arXiv 2502.05202, string-level
rejection sampling).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import count
from typing import NamedTuple

from specdist.errors import SettingsError

MOST_TEXTS = 200_000
"""Limit of the enumeration: draft tokens appended to texts that are still too short."""


class StringLaw(NamedTuple):
    """psi by target token, and the most draft tokens that a text took."""

    masses: dict[int, Fraction]
    draws: int


def string_law(
    shares: Mapping[int, Fraction],
    draft_texts: Sequence[str],
    texts: Sequence[str],
    characters: int,
) -> StringLaw:
    """psi of a draft row over target texts, for texts of at least ``characters``.

    Raises SettingsError for a possible draft token without text, a text that no target token
    begins, two target tokens of one text, and more than `MOST_TEXTS` texts.
    """
    for x in shares:
        if not draft_texts[x]:
            raise SettingsError(
                f"retokenise: draft token {x} is possible and has no text",
                expected="a text of at least one character for every possible draft token",
                advice="ban the token first, as in banned:IDS,retokenise:N",
            )
    first = _FirstToken(texts)
    masses: dict[int, Fraction] = {}
    short = {"": Fraction(1)}
    work = 0
    for draws in count(1):  # pragma: no branch
        longer: dict[str, Fraction] = {}
        work += len(short) * len(shares)
        if work > MOST_TEXTS:
            raise _too_many(characters)
        for text, mass in short.items():
            for x, share in shares.items():
                made = text + draft_texts[x]
                if len(made) < characters:
                    longer[made] = longer.get(made, Fraction(0)) + mass * share
                else:
                    token = first.of(made)
                    masses[token] = masses.get(token, Fraction(0)) + mass * share
        if not longer:
            return StringLaw(masses, draws)
        short = longer
    raise AssertionError("unreachable")


class _FirstToken:
    """Greedy longest match at the start of a text."""

    def __init__(self, texts: Sequence[str]) -> None:
        self._ids: dict[str, list[int]] = {}
        for token, text in enumerate(texts):
            if text:
                self._ids.setdefault(text, []).append(token)
        self._longest = max(map(len, self._ids), default=0)

    def of(self, text: str) -> int:
        for length in range(min(self._longest, len(text)), 0, -1):
            found = self._ids.get(text[:length])
            if found and len(found) > 1:
                raise SettingsError(
                    f"retokenise: target tokens {found[0]} and {found[1]} have one text, "
                    f"{text[:length][:20]!r}",
                    expected="one target token for every text that is met",
                )
            if found:
                return found[0]
        raise SettingsError(
            f"retokenise: no target token begins the draft text {text[:20]!r}",
            expected="target texts that cover every text of the draft",
        )


def _too_many(characters: int) -> SettingsError:
    return SettingsError(
        f"retokenise:{characters} meets more than {MOST_TEXTS} draft texts",
        expected="fewer characters, or a draft row with fewer possible tokens",
        advice="cut the draft first, as in top-k:50,retokenise:4",
    )
