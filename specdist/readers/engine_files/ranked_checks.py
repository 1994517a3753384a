"""Checks on listed tokens: each id once, no NaN, falling where falling is promised, a mass up to 1.

A value may come from two kernels with another last bit, and a sum from rounded values: the
allowances below are for that, and for nothing larger.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from itertools import pairwise
from math import exp, fsum, inf, isfinite, isnan
from typing import NamedTuple

from specdist.errors import RowError
from specdist.model.row import Kind

_AGREEMENT = 2.0**-12
"""Relative difference of two values of one token that are still one value."""
_HIGHEST_LOGPROB = 2.0**-7
"""Half a unit of a bfloat16 around 1: a rounded normaliser may lift a value above 0."""
_ARITHMETIC = 2.0**-40
"""Error of a float64 sum of exponentials, generous."""
_OVERFLOW = 700.0


class TokenValue(NamedTuple):
    """A token and its value, in units of the row's kind."""

    token: int
    value: float


def mass_of(entries: Iterable[TokenValue], kind: Kind) -> float:
    """The probability of the listed tokens, to float64."""
    if kind is Kind.PROBABILITIES:
        return fsum(entry.value for entry in entries)
    values = [entry.value for entry in entries]
    if max(values, default=0.0) > _OVERFLOW:
        return inf
    return fsum(map(exp, values))


def check_entries(entries: Sequence[TokenValue], kind: Kind, size: int | None, place: str) -> None:
    """Raises RowError for an id twice or outside the vocabulary, and for a value that the kind
    cannot have."""
    if not entries or _plain(entries, kind, size):
        return
    seen: set[int] = set()
    for token, value in entries:
        if token < 0 or (size is not None and token >= size):
            limit = "" if size is None else f" in a vocabulary of {size}"
            raise RowError(f"token {token}{limit}", place=place, expected="ids from 0 on")
        if token in seen:
            raise RowError(f"token {token} is listed twice", place=place, expected="each id once")
        seen.add(token)
        _check_value(token, value, kind, place)


def _plain(entries: Sequence[TokenValue], kind: Kind, size: int | None) -> bool:
    """Whether nothing of a list needs a second look, in few passes."""
    tokens, values = zip(*entries, strict=True)
    if len(set(tokens)) < len(tokens) or min(tokens) < 0 or not all(map(isfinite, values)):
        return False
    if size is not None and max(tokens) >= size:
        return False
    if kind is Kind.LOGITS:
        return True
    low, high = (-inf, 0.0) if kind is Kind.LOGPROBS else (0.0, 1.0)
    return bool(low <= min(values) and max(values) <= high)


def _check_value(token: int, value: float, kind: Kind, place: str) -> None:
    if isnan(value) or value == inf:
        raise RowError(
            f"{'NaN' if isnan(value) else '+inf'} for token {token}",
            place=place,
            expected="finite numbers, or -inf",
        )
    if kind is Kind.LOGPROBS and value > _HIGHEST_LOGPROB:
        raise RowError(
            f"a log-probability above 0, {value:.6g}, for token {token}",
            place=place,
            expected="values up to 0",
            advice="pass --kind logits if these are logits",
        )
    if kind is Kind.PROBABILITIES and not 0 <= value <= 1 + _AGREEMENT:
        raise RowError(
            f"a probability of {value:.6g} for token {token}",
            place=place,
            expected="values from 0 to 1",
        )


def is_falling(entries: Sequence[TokenValue]) -> bool:
    """Whether no value is above the one before it."""
    return all(before.value >= after.value for before, after in pairwise(entries))


def check_falling(ranked: Sequence[TokenValue], place: str) -> None:
    """Raises RowError where a list of the most likely tokens is not in falling order."""
    for before, after in pairwise(ranked):
        if after.value > before.value:
            raise RowError(
                f"token {after.token} is listed after the less likely token {before.token}",
                place=place,
                expected="the most likely tokens, falling",
            )


def besides(
    ranked: Sequence[TokenValue], more: Sequence[TokenValue], place: str
) -> tuple[list[TokenValue], Fraction]:
    """The entries that the ranked ones lack, and how far the values of the others are apart.

    Raises RowError for two values of one token that rounding does not explain.
    """
    known = {entry.token: entry.value for entry in ranked}
    spread = 0.0
    for token, value in more:
        if token not in known or known[token] == value:
            continue
        apart = abs(known[token] - value)
        if not apart <= _AGREEMENT * max(1.0, abs(value)):
            raise RowError(
                f"token {token} has two values, {known[token]:.6g} and {value:.6g}",
                place=place,
                expected="one value a token",
            )
        spread = max(spread, apart)
    return [entry for entry in more if entry.token not in known], Fraction(spread)


def check_rank(
    ranked: Sequence[TokenValue],
    more: Sequence[TokenValue],
    half_width: Fraction,
    place: str,
) -> None:
    """Raises RowError where a token besides is more likely than the last of the most likely."""
    if not ranked or not more:
        return
    last = ranked[-1].value
    likeliest = max(more, key=lambda entry: entry.value)
    room = float(2 * half_width) + 2.0**-22 * max(1.0, abs(last) if last > -inf else 1.0)
    if likeliest.value > last + room:
        raise RowError(
            f"token {likeliest.token} is more likely than the last of the {len(ranked)} most "
            "likely",
            place=place,
            expected="no token above the smallest of the most likely ones",
        )


def check_mass(
    entries: Sequence[TokenValue],
    kind: Kind,
    place: str,
    *,
    slack: Fraction,
    half_width: Fraction,
    all_of_them: bool,
) -> None:
    """Raises RowError for listed tokens of a mass above 1, and for a mass below 1 of all tokens
    that are possible."""
    if kind is Kind.LOGITS:
        return
    room = float(slack) + (float(half_width) if kind is Kind.LOGPROBS else 0.0)
    spare = _ARITHMETIC
    if kind is Kind.PROBABILITIES:
        spare += float(half_width) * len(entries)
    mass = mass_of(entries, kind)
    if mass > exp(room) + spare:
        raise RowError(
            f"the listed tokens have a mass of {mass:.9g}",
            place=place,
            expected="a mass of at most 1",
            advice="pass --kind logits if these are logits",
        )
    if all_of_them and mass < exp(-room) - spare:
        raise RowError(
            f"the only possible tokens have a mass of {mass:.9g}", place=place, expected="1"
        )
