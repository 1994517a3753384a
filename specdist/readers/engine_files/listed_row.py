"""From the tokens that an engine lists at one position to the values of a row.

A list is what it claims to be or it is refused: no id twice, no NaN, no mass above 1, no token
beyond the smallest of "the k most likely". What the list leaves open stays open.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import pairwise
from math import exp, fsum, inf, isnan
from typing import NamedTuple

from specdist.errors import RowError
from specdist.model.row import FloatValues, Kind, ListedValues

LOWEST_FLOAT32 = -(2.0**128 - 2.0**104)
"""What SGLang and llama.cpp write for the logarithm of 0."""
LARGEST_VOCABULARY = 2**18
"""Tokens of the largest vocabularies in use, for bounds where the size is unknown."""
GPU_TERMS = 256
"""Numbers that one thread of a softmax kernel adds up, of at most ``LARGEST_VOCABULARY``: 1,024
threads share a row (torch 2.13, aten/src/ATen/native/cuda/SoftMax.cu)."""
CPU_LANES = 8
"""Partial sums that a vectorised float32 softmax keeps at least."""
_AGREEMENT = 2.0**-12
_SPARE_TERMS = 32


class Entry(NamedTuple):
    """A token and its value, in units of the row's kind."""

    token: int
    value: float


@dataclass(frozen=True, slots=True)
class Listing:
    """What a position lists. ``ranked``: the most likely tokens, falling, none left out between
    them; ``more``: tokens that were asked for by name, such as the sampled one.

    ``size``: of the vocabulary, where known. ``slack``: see `ListedValues`, from `sum_slack`.
    ``half_width``: of a stored value. ``only``: the tokens that are possible, where known.
    """

    ranked: tuple[Entry, ...]
    more: tuple[Entry, ...] = ()
    size: int | None = None
    slack: Fraction = Fraction(0)
    half_width: Fraction = Fraction(0)
    only: tuple[int, ...] | None = None


def sum_slack(terms: int) -> Fraction:
    """The slack of a normaliser that adds ``terms`` float32 numbers one after another.

    The sum of n terms is within a relative (n - 1) u of the exact one, u = 2^-24 (Higham, Accuracy
    and Stability, equation 4.4); the rest of the 32 is for the exponentials, and for the rounding
    of every log-probability, whose effect on the sum is u times the entropy. Then
    ``|ln(1 +- e)| <= e / (1 - e)``. Terms below half a unit of a running sum are lost whole, so
    that nothing smaller can be promised.
    """
    error = Fraction(terms + _SPARE_TERMS, 2**24)
    return error / (1 - error)


def listed_values(listing: Listing, kind: Kind, place: str) -> ListedValues | FloatValues:
    """The values of a listing: complete as `FloatValues`, else with the cap and the support that
    follow from its order. Raises RowError where it contradicts itself."""
    ranked = _checked(listing.ranked, kind, listing.size, place)
    _falling(ranked, place)
    more, spread = _besides(ranked, _checked(listing.more, kind, listing.size, place), place)
    listing = replace(listing, half_width=listing.half_width + spread)
    impossible = 0.0 if kind is Kind.PROBABILITIES else -inf
    if ranked and more and max(e.value for e in more) > ranked[-1].value + _room(listing, ranked):
        raise RowError(
            f"token {max(more, key=lambda e: e.value).token} is more likely than the last of the "
            f"{len(ranked)} most likely",
            place=place,
            expected="no token above the smallest of the most likely ones",
        )
    entries = [*ranked, *more]
    only = listing.only
    if ranked and ranked[-1].value == impossible and kind is not Kind.LOGITS:
        entries = [entry for entry in entries if entry.value != impossible]
        only = tuple(sorted(entry.token for entry in entries))
    if not entries:
        raise RowError("no token is listed", place=place, expected="at least one possible token")
    _mass(entries, kind, listing, place)
    return _values(entries, ranked, only, listing)


def _values(
    entries: list[Entry], ranked: Sequence[Entry], only: tuple[int, ...] | None, listing: Listing
) -> ListedValues | FloatValues:
    import numpy as np

    entries.sort(key=lambda entry: entry.token)
    array = np.array([entry.value for entry in entries], dtype=np.float64)
    if len(entries) == listing.size and not listing.half_width:
        return FloatValues(array)
    known = [entry.token for entry in entries] + list(only or ())
    size = listing.size if listing.size is not None else max(known) + 1
    cap = None
    if ranked and only is None:
        cap = Fraction(ranked[-1].value) + listing.half_width
    return ListedValues(
        ids=tuple(entry.token for entry in entries),
        values=FloatValues(array),
        size=size,
        open_ended=listing.size is None,
        cap=cap,
        half_width=listing.half_width,
        slack=listing.slack,
        support=only,
    )


def looks_complete(lists: Iterable[Sequence[Entry]], kind: Kind) -> int | None:
    """The vocabulary size, where every list names exactly the ids from 0 on, 16 of them or more,
    and leaves no mass over: a vocabulary of which something is missing does not look so."""
    size: int | None = None
    for entries in lists:
        if size is None:
            size = len(entries)
        if len(entries) != size or size < _FEWEST:
            return None
        if {entry.token for entry in entries} != set(range(size)):
            return None
        if kind is not Kind.LOGITS and abs(mass_of(entries, kind) - 1) > _COMPLETE:
            return None
    return size


_FEWEST = 16
_COMPLETE = 1e-3


def mass_of(entries: Iterable[Entry], kind: Kind) -> float:
    """The probability of the listed tokens, to float64."""
    if kind is Kind.PROBABILITIES:
        return fsum(entry.value for entry in entries)
    return fsum(exp(min(entry.value, 700.0)) for entry in entries)


def _checked(
    entries: Sequence[Entry], kind: Kind, size: int | None, place: str
) -> tuple[Entry, ...]:
    seen: set[int] = set()
    for token, value in entries:
        if token < 0 or (size is not None and token >= size):
            limit = "" if size is None else f" in a vocabulary of {size}"
            raise RowError(f"token {token}{limit}", place=place, expected="ids from 0 on")
        if token in seen:
            raise RowError(f"token {token} is listed twice", place=place, expected="each id once")
        seen.add(token)
        _value(token, value, kind, place)
    return tuple(entries)


def _value(token: int, value: float, kind: Kind, place: str) -> None:
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


_HIGHEST_LOGPROB = 2.0**-7
"""Half a unit of a bfloat16 around 1: a rounded normaliser may lift a value above 0."""


def _falling(ranked: Sequence[Entry], place: str) -> None:
    for before, after in pairwise(ranked):
        if after.value > before.value:
            raise RowError(
                f"token {after.token} is listed after the less likely token {before.token}",
                place=place,
                expected="the most likely tokens, falling",
            )


def _besides(
    ranked: Sequence[Entry], more: Sequence[Entry], place: str
) -> tuple[list[Entry], Fraction]:
    """The entries that the ranked ones lack, and how far the values of the others are apart:
    the same number may come out of two kernels with another last bit."""
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


def _room(listing: Listing, ranked: Sequence[Entry]) -> float:
    """How far a token besides may seem to exceed the last ranked one: rounding only."""
    last = ranked[-1].value
    return float(2 * listing.half_width) + 2.0**-22 * max(1.0, abs(last) if last > -inf else 1.0)


def _mass(entries: Sequence[Entry], kind: Kind, listing: Listing, place: str) -> None:
    if kind is Kind.LOGITS:
        return
    limit = exp(float(listing.slack))
    if kind is Kind.LOGPROBS:
        limit *= exp(float(listing.half_width))
    else:
        limit += float(listing.half_width) * len(entries)
    if (mass := mass_of(entries, kind)) > limit * (1 + 2.0**-40):
        raise RowError(
            f"the listed tokens have a mass of {mass:.9g}",
            place=place,
            expected="a mass of at most 1",
            advice="pass --kind logits if these are logits",
        )
