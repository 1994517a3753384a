"""From the most likely tokens of a position, and others named beside them, to a row's values.

A list is what it claims to be or it is refused (`ranked_checks`). What it leaves open stays open.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import inf

from specdist.errors import RowError
from specdist.model.row import FloatValues, Kind, ListedValues
from specdist.readers.engine_files.ranked_checks import (
    TokenValue,
    besides,
    check_entries,
    check_falling,
    check_mass,
    check_rank,
    mass_of,
)

LARGEST_VOCABULARY = 2**18
"""Tokens of the largest vocabularies in use, for bounds where the size is unknown."""
GPU_TERMS = 256
"""Numbers that one thread of a softmax kernel adds up, of at most ``LARGEST_VOCABULARY``: 1,024
threads share a row (torch 2.13, aten/src/ATen/native/cuda/SoftMax.cu)."""
CPU_LANES = 8
"""Partial sums that a vectorised float32 softmax keeps at least."""
_SPARE_TERMS = 32
_FEWEST = 16
_COMPLETE = 1e-3


@dataclass(frozen=True, slots=True)
class RankedList:
    """What a position lists. ``ranked``: the most likely tokens, falling, none left out between
    them; ``more``: tokens that were asked for by name, such as the sampled one.

    ``size``: of the vocabulary, where known. ``slack``: see `ListedValues`, from `sum_slack`.
    ``half_width``: of a stored value. ``only``: the tokens that are possible, where known.
    """

    ranked: tuple[TokenValue, ...]
    more: tuple[TokenValue, ...] = ()
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


def listed_values(found: RankedList, kind: Kind, place: str) -> ListedValues | FloatValues:
    """The values of a position: complete as `FloatValues`, else with the cap and the support that
    follow from the order. Raises RowError where the list contradicts itself."""
    check_entries(found.ranked, kind, found.size, place)
    check_falling(found.ranked, place)
    check_entries(found.more, kind, found.size, place)
    more, spread = besides(found.ranked, found.more, place)
    width = found.half_width + spread
    check_rank(found.ranked, more, width, place)
    entries, only = _possible([*found.ranked, *more], found, kind)
    if not entries:
        raise RowError("no token is listed", place=place, expected="at least one possible token")
    check_mass(
        entries,
        kind,
        place,
        slack=found.slack,
        half_width=width,
        all_of_them=only is not None and only <= {entry.token for entry in entries},
    )
    return _values(entries, only, found, width)


def looks_complete(lists: Iterable[Sequence[TokenValue]], kind: Kind) -> int | None:
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


def _possible(
    entries: list[TokenValue], found: RankedList, kind: Kind
) -> tuple[list[TokenValue], set[int] | None]:
    """The possible entries, and the only possible tokens where those are known: after a 0 among
    the most likely tokens every other is 0 too."""
    impossible = 0.0 if kind is Kind.PROBABILITIES else -inf
    only = None if found.only is None else set(found.only)
    ends = bool(found.ranked) and found.ranked[-1].value == impossible
    if only is None and ends:
        only = {entry.token for entry in entries}
    if only is None:
        return entries, None
    only -= {entry.token for entry in entries if entry.value == impossible}
    return [entry for entry in entries if entry.value != impossible], only


def _values(
    entries: list[TokenValue], only: set[int] | None, found: RankedList, width: Fraction
) -> ListedValues | FloatValues:
    import numpy as np

    ids, values = zip(*sorted(entries), strict=True)
    array = np.array(values, dtype=np.float64)
    if len(ids) == found.size and not width:
        return FloatValues(array)
    cap = Fraction(found.ranked[-1].value) + width if found.ranked and only is None else None
    return ListedValues(
        ids=ids,
        values=FloatValues(array),
        size=max(ids[-1], *(only or {0})) + 1 if found.size is None else found.size,
        open_ended=found.size is None,
        cap=cap,
        half_width=width,
        slack=found.slack,
        support=None if only is None else tuple(sorted(only)),
    )
