"""The float64 arrays that vectors are combinations of, and their masks."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from specdist.exact.code_counts import code_counts
from specdist.exact.float_filter import Signs, exact_sign_sets, sure_signs
from specdist.exact.float_sum import exact_dots
from specdist.exact.law import LogScores

FloatArray = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Atom:
    """A float64 array [n]: ``dense``, or 16-bit ``codes`` with a ``table`` of values.

    For codes, ``present`` lists the codes that occur, rising, and ``counts`` how often each does.
    ``log_scores`` are the logits behind the values, where they are known, and ``bound`` the
    relative error of the values against them. ``constant``: every value is 1.
    """

    size: int
    dense: FloatArray | None = None
    codes: NDArray[np.uint16] | None = None
    table: FloatArray | None = None
    present: NDArray[np.intp] | None = None
    counts: NDArray[np.intp] | None = None
    log_scores: LogScores | None = None
    bound: Fraction = Fraction(0)
    constant: bool = False

    @classmethod
    def of(cls, dense: FloatArray) -> Atom:
        return cls(len(dense), dense)

    @cached_property
    def values(self) -> FloatArray:
        """The whole array."""
        return self.block(slice(0, self.size))

    def block(self, entries: slice) -> FloatArray:
        """The values of a range of entries."""
        if self.dense is not None:
            return self.dense[entries]
        if self.codes is None or self.table is None:
            raise ValueError("an atom needs dense values, or codes with their table")
        return self.table.take(self.codes[entries])

    @property
    def levels(self) -> FloatArray:
        """The values, each at least once."""
        if self.table is not None and self.present is not None:
            return self.table[self.present]
        return self.values

    def at(self, entries: NDArray[np.intp]) -> FloatArray:
        """The values of some entries."""
        if self.codes is not None and self.table is not None:
            return self.table[self.codes[entries]]
        return self.values[entries]

    def entry(self, index: int) -> float:
        """One value."""
        if self.codes is not None and self.table is not None:
            return float(self.table[self.codes[index]])
        return float(self.values[index])

    def exact_sum(self, chosen: NDArray[np.bool_] | None) -> Fraction:
        """``sum_x a(x) [x chosen]``, exactly; None chooses everything."""
        if self.codes is None or self.table is None or self.present is None:
            return exact_dots(self.values, [chosen])[0]
        levels = self.table[self.present]
        if chosen is None:
            return exact_dots(levels, [self.counts], self.size)[0]
        counts = code_counts(self.codes, chosen)[self.present]
        return exact_dots(levels, [counts], self.size)[0]

    @property
    def largest_value(self) -> float | None:
        """A bound on the values where one is known: weights of logits are at most 1."""
        return None if self.log_scores is None else 1.0

    def largest(self, count: int) -> NDArray[np.intp]:
        """Entries that hold the ``count`` largest sizes among them, rising."""
        if self.codes is None or self.table is None or self.present is None or self.counts is None:
            if self.log_scores is not None:
                return entries_of_largest(self.log_scores.block(slice(None)), count)
            return entries_of_largest(np.abs(self.values), count)
        levels = self.table[self.present]
        few = min(count, len(levels))  # each level has a token at least
        top = np.argpartition(-levels, few - 1)[:few]
        top = top[np.argsort(-levels[top])]
        last = int(np.searchsorted(np.cumsum(self.counts[top]), count))
        floor = levels[top[min(last, few - 1)]]
        return np.flatnonzero((self.table >= floor).take(self.codes))


MENDED = 64


@dataclass(frozen=True, eq=False)
class Mask:
    """A set of tokens, bool [n], compared by identity."""

    array: NDArray[np.bool_]


EVERYWHERE: frozenset[Mask] = frozenset()
Key = tuple[Atom, frozenset[Mask]]
Terms = dict[Key, Fraction]
SignKey = frozenset[tuple[Key, int, int]]


def entries_of_largest(sizes: NDArray[np.floating[Any]], count: int) -> NDArray[np.intp]:
    """Entries that hold the ``count`` largest of ``sizes`` among them, rising.

    The count-th largest of the maxima of short blocks is a lower bound of the count-th largest
    entry, so only the entries from there on are left to be sorted by the caller.
    """
    width = len(sizes) // (64 * max(count, 1))
    if width < 2:
        return np.arange(len(sizes))
    whole = len(sizes) // width * width
    maxima = sizes[:whole].reshape(-1, width).max(axis=1)
    floor = np.partition(maxima, len(maxima) - count)[len(maxima) - count]
    return np.flatnonzero(sizes >= floor)


def signs_of(size: int, terms: Terms) -> Signs:
    """Where ``sum_k c_k a_k(x) [x in M_k]`` is positive and where it is negative, exactly."""
    level = _against_constant(terms)
    if level is not None:
        return level
    compared = compare_by_scores(terms)
    unsure = size if compared is None else size - sum(map(np.count_nonzero, compared))
    if compared is None or unsure > MENDED:
        twins = _same_scale(terms)
        if twins is not None:
            return Signs(twins[0].values > twins[1].values, twins[0].values < twins[1].values)
        listed = [(a.block, [m.array for m in masks], c) for (a, masks), c in terms.items()]
        return exact_sign_sets(size, listed)
    positive, negative = compared
    if unsure:
        for entry in np.flatnonzero(~(positive | negative)).tolist():
            value = sum(c * Fraction(atom.entry(entry)) for (atom, _), c in terms.items())
            positive[entry], negative[entry] = value > 0, value < 0
    return compared


def _against_constant(terms: Terms) -> Signs | None:
    """Signs of ``c a - d``, c and d above 0, or of the negative: a float64 against a number."""
    if len(terms) != 2 or any(masks for _, masks in terms):
        return None
    pairs = [(atom, c) for (atom, _), c in terms.items()]
    ((atom, c), (unit, d)) = sorted(pairs, key=lambda pair: pair[0].constant)
    if not unit.constant or atom.constant or (c > 0) == (d > 0):
        return None
    edge = -d / c
    nearest = float(edge)
    above = np.greater_equal if Fraction(nearest) > edge else np.greater
    below = np.less_equal if Fraction(nearest) < edge else np.less
    coded = atom.table is not None and atom.codes is not None
    values = atom.table if atom.table is not None and coded else atom.values
    positive, negative = above(values, nearest), below(values, nearest)
    if atom.codes is not None and coded:
        positive, negative = positive.take(atom.codes), negative.take(atom.codes)
    return Signs(positive, negative) if c > 0 else Signs(negative, positive)


def _same_scale(terms: Terms) -> tuple[Atom, Atom] | None:
    """The atoms a and b of ``c a - c b``, c > 0: comparing their floats is exact."""
    if len(terms) != 2 or any(masks for _, masks in terms):
        return None
    ((first, _), c), ((second, _), d) = terms.items()
    if c != -d:
        return None
    return (first, second) if c > 0 else (second, first)


def compare_by_scores(terms: Terms) -> Signs | None:
    """The sure signs of ``c a - d b`` by the logits behind a and b, None where that cannot be.

    It takes two whole atoms with opposite signs, one temperature, and logits that are known.
    """
    if len(terms) != 2 or any(masks for _, masks in terms):
        return None
    ((first, _), c), ((second, _), d) = terms.items()
    if (c > 0) == (d > 0) or first.log_scores is None or second.log_scores is None:
        return None
    if first.log_scores.temperature != second.log_scores.temperature:
        return None
    signs = sure_signs(
        first.log_scores, second.log_scores, abs(c) / abs(d), first.bound + second.bound
    )
    return signs if c > 0 else Signs(signs.negative, signs.positive)
