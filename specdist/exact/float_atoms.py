"""The float64 arrays that vectors are combinations of, their masks, and their exact sums."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from specdist.exact.float_filter import Signs
from specdist.exact.float_sum import exact_dots

FloatArray = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Atom:
    """A float64 array [n]: ``dense``, or 16-bit ``codes`` with a ``table`` of values.

    For codes, ``present`` lists the codes that occur, rising, and ``counts`` how often each does.
    """

    size: int
    dense: FloatArray | None = None
    codes: NDArray[np.uint16] | None = None
    table: FloatArray | None = None
    present: NDArray[np.intp] | None = None
    counts: NDArray[np.intp] | None = None

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
        counts = np.bincount(np.multiply(self.codes, chosen, dtype=np.intp), minlength=1 << 16)
        counts[0] -= self.size - int(np.count_nonzero(chosen))
        return exact_dots(levels, [counts[self.present]], self.size)[0]

    def largest(self, count: int) -> NDArray[np.intp]:
        """Entries that hold the ``count`` largest sizes among them, rising."""
        if self.codes is None or self.table is None or self.present is None or self.counts is None:
            return entries_of_largest(np.abs(self.values), count)
        order = np.argsort(-self.table[self.present])
        last = int(np.searchsorted(np.cumsum(self.counts[order]), count))
        floor = self.table[self.present[order[min(last, len(order) - 1)]]]
        return np.flatnonzero((self.table >= floor).take(self.codes))


_MENDED = 64
FORESEEN_FROM = 4_096
"""Dense atoms of this size on are worth foreseeing."""


@dataclass(frozen=True, eq=False)
class Mask:
    """A set of tokens, bool [n], compared by identity."""

    array: NDArray[np.bool_]


Key = tuple[Atom, frozenset[Mask]]
Terms = dict[Key, Fraction]
SignKey = frozenset[tuple[Key, int, int]]


@dataclass(frozen=True, eq=False)
class Space:
    """The tokens of one position, and the exact sums and signs already worked out for them.

    ``ids`` are the token ids of the entries (None: entry i is token i); tokens outside have mass 0
    in every law of the position.
    """

    size: int
    ids: NDArray[np.intp] | None = None
    sums: dict[Key, Fraction] = field(default_factory=dict)
    signs: dict[SignKey, Signs] = field(default_factory=dict)
    masks: dict[int, Mask] = field(default_factory=dict)
    products: dict[tuple[Atom, Atom], tuple[Atom, Atom, Fraction]] = field(default_factory=dict)
    guesses: dict[Atom, tuple[NDArray[np.bool_], Fraction]] = field(default_factory=dict)

    def foresee(self, first: Atom, second: Atom) -> None:
        """Works out the sums that comparing two normalised atoms will need, in one pass each.

        The comparison needs exact totals, and sums over the tokens where it holds; float64 totals
        tell those tokens beforehand, all but a few at most, and `sum` mends the few exactly.
        """
        ratio = float(second.values.sum()) / float(first.values.sum())
        guess = first.values * ratio < second.values
        for atom in (first, second):
            total, part = exact_dots(atom.values, [None, guess])
            self.sums[(atom, frozenset())] = total
            self.guesses[atom] = (guess, part)

    def sum(self, key: Key) -> Fraction:
        """``sum_x a(x) [x in M]``, exactly."""
        if key not in self.sums:
            atom, masks = key
            chosen = None
            for mask in masks:
                chosen = mask.array if chosen is None else chosen & mask.array
            known = None if chosen is None else self._from_guess(atom, chosen)
            self.sums[key] = atom.exact_sum(chosen) if known is None else known
        return self.sums[key]

    def _from_guess(self, atom: Atom, chosen: NDArray[np.bool_]) -> Fraction | None:
        """The sum over ``chosen`` where a guess, or its complement, misses a few tokens only."""
        if atom not in self.guesses:
            return None
        guess, total = self.guesses[atom]
        differs = guess != chosen
        count = int(np.count_nonzero(differs))
        if self.size - count <= _MENDED:
            differs, total = ~differs, self.sums[(atom, frozenset())] - total
        elif count > _MENDED:
            return None
        for entry in np.flatnonzero(differs).tolist():
            value = Fraction(atom.entry(entry))
            total += value if chosen[entry] else -value
        return total

    def mask(self, array: NDArray[np.bool_]) -> Mask:
        """The mask object of an array; one object per array, so that equal terms cancel."""
        return self.masks.setdefault(id(array), Mask(array))


def entries_of_largest(sizes: FloatArray, count: int) -> NDArray[np.intp]:
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
