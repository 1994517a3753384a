"""The tokens of one position, with the exact sums, signs and products already worked out."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from specdist.exact.float_atoms import (
    EVERYWHERE,
    MENDED,
    Atom,
    Key,
    Mask,
    SignKey,
    compare_by_scores,
)
from specdist.exact.float_filter import Signs
from specdist.exact.float_sum import exact_dots
from specdist.exact.float_terms import multiply_exactly

FORESEEN_FROM = 4_096
"""Dense atoms of this size on are worth foreseeing."""


@dataclass(frozen=True, eq=False)
class Space:
    """The tokens of one position, and the exact sums and signs already worked out for them.

    ``ids`` are the token ids of the entries (None: entry i is token i); tokens outside have mass 0
    in every law of the position. ``vocabulary`` counts them too.
    """

    size: int
    ids: NDArray[np.intp] | None = None
    sums: dict[Key, Fraction] = field(default_factory=dict)
    signs: dict[SignKey, Signs] = field(default_factory=dict)
    masks: dict[int, Mask] = field(default_factory=dict)
    products: dict[tuple[Atom, Atom], tuple[Atom, Atom, Fraction]] = field(default_factory=dict)
    complements: dict[int, NDArray[np.bool_]] = field(default_factory=dict)
    unit: list[Atom] = field(default_factory=list)
    vocabulary: int | None = None
    guesses: dict[Atom, tuple[NDArray[np.bool_], Fraction]] = field(default_factory=dict)

    def foresee(self, first: Atom, second: Atom) -> None:
        """Works out the sums that comparing two normalised atoms will need, in one pass each.

        The comparison needs exact totals, and sums over the tokens where it holds; float64 totals
        tell those tokens beforehand, all but a few at most, and `sum` mends the few exactly.
        """
        ratio = float(second.values.sum()) / float(first.values.sum())
        terms = {(first, EVERYWHERE): Fraction(ratio), (second, EVERYWHERE): Fraction(-1)}
        compared = compare_by_scores(terms)
        guess = first.values * ratio < second.values if compared is None else compared.negative
        for atom in (first, second):
            total, part = exact_dots(atom.values, [None, guess], largest=atom.largest_value)
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
        if self.size - count <= MENDED:
            differs, total = ~differs, self.sums[(atom, frozenset())] - total
        elif count > MENDED:
            return None
        for entry in np.flatnonzero(differs).tolist():
            value = Fraction(atom.entry(entry))
            total += value if chosen[entry] else -value
        return total

    def tokens(self, entries: NDArray[np.intp]) -> list[int]:
        """Token ids of some entries."""
        chosen = entries if self.ids is None else self.ids[entries]
        return [int(token) for token in chosen]

    def entry(self, token: int) -> int | None:
        """Entry of a token, None for one outside the space."""
        if self.ids is None:
            return token
        entry = int(np.searchsorted(self.ids, token))
        inside = entry < len(self.ids) and self.ids[entry] == token
        return entry if inside else None

    def ones(self) -> Atom:
        """The array that is 1 for every entry."""
        if not self.unit:
            self.unit.append(Atom(self.size, np.ones(self.size), constant=True))
        return self.unit[0]

    def product(self, first: Atom, second: Atom) -> tuple[Atom, Atom, Fraction]:
        """``first * second = high + low`` entry by entry, and a bound of what is lost in all."""
        key = (first, second)
        if key not in self.products:
            high, low, lost = multiply_exactly(first.values, second.values)
            self.products[key] = (Atom.of(high), Atom.of(low), lost)
        return self.products[key]

    def complement(self, array: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """The other entries; one object per array, so that equal terms cancel. ``array`` must
        live as long as the space, as signs and masks do."""
        if id(array) not in self.complements:
            self.complements[id(array)] = ~array
        return self.complements[id(array)]

    def mask(self, array: NDArray[np.bool_]) -> Mask:
        """The mask object of an array; one object per array, so that equal terms cancel."""
        return self.masks.setdefault(id(array), Mask(array))
