"""Exact vectors at real vocabulary sizes: linear combinations of masked float64 arrays.

A `FloatVector` is ``v(x) = sum_k c_k a_k(x) [x in M_k]`` with exact rational ``c_k``, float64
arrays ``a_k >= 0`` (atoms) and sets of tokens ``M_k`` (intersections of masks). Sums, differences
and scaling work on the coefficients; ``min`` and the positive part select by the sign of such a
combination; exact totals come from `float_sum`. So everything but a quotient of two arrays stays
inside the algebra, and terms that cancel do so exactly and for the real-valued weights as well.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from specdist.exact.float_filter import Signs, exact_sign_sets
from specdist.exact.float_sum import exact_dots
from specdist.exact.float_terms import divide_rounded, multiply_exactly

_ZERO = Fraction(0)
_UNIT = Fraction(1, 2**53)
_TINY = Fraction(1, 2**1000)


@dataclass(frozen=True, eq=False)
class Atom:
    """A float64 array [n] of non-negative values, or the same as 16-bit codes with a table."""

    values: NDArray[np.float64]
    codes: NDArray[np.uint16] | None = None
    table: NDArray[np.float64] | None = None


@dataclass(frozen=True, eq=False)
class Mask:
    """A set of tokens, bool [n], compared by identity."""

    array: NDArray[np.bool_]


Key = tuple[Atom, frozenset[Mask]]
Terms = dict[Key, Fraction]


@dataclass(frozen=True, eq=False)
class Space:
    """The tokens of one position, and the exact sums and signs already worked out for them.

    ``ids`` are the token ids of the entries (None: entry i is token i); tokens outside have mass 0
    in every law of the position.
    """

    size: int
    ids: NDArray[np.intp] | None = None
    sums: dict[Key, Fraction] = field(default_factory=dict)
    signs: dict[frozenset[tuple[Key, Fraction]], Signs] = field(default_factory=dict)
    masks: dict[int, Mask] = field(default_factory=dict)
    products: dict[tuple[Atom, Atom], tuple[Atom, Atom, Fraction]] = field(default_factory=dict)

    def sum(self, key: Key) -> Fraction:
        """``sum_x a(x) [x in M]``, exactly."""
        if key not in self.sums:
            self.sums[key] = _masked_sum(*key)
        return self.sums[key]

    def mask(self, array: NDArray[np.bool_]) -> Mask:
        """The mask object of an array; one object per array, so that equal terms cancel."""
        return self.masks.setdefault(id(array), Mask(array))


def _masked_sum(atom: Atom, masks: frozenset[Mask]) -> Fraction:
    chosen = None
    for mask in masks:
        chosen = mask.array if chosen is None else chosen & mask.array
    if atom.codes is None or atom.table is None:
        return exact_dots(atom.values, [chosen])[0]
    codes = atom.codes if chosen is None else atom.codes * chosen
    counts = np.bincount(codes, minlength=len(atom.table))
    if chosen is not None:
        counts[0] -= len(codes) - int(np.count_nonzero(chosen))
    present = np.flatnonzero(counts)
    return exact_dots(atom.table[present], [counts[present]], len(codes))[0]


@dataclass(frozen=True, eq=False)
class FloatVector:
    """See the module and `ExactVector`. Built by `vectors.vectors_of_laws`."""

    space: Space
    terms: Terms
    error: Fraction = _ZERO

    def __add__(self, other: FloatVector) -> FloatVector:
        return self._combined(other, 1)

    def __sub__(self, other: FloatVector) -> FloatVector:
        return self._combined(other, -1)

    def scaled(self, factor: Fraction, factor_error: Fraction = _ZERO) -> FloatVector:
        error = abs(factor) * self.error
        if factor_error:
            error += factor_error * (self._size() + self.error)
        return FloatVector(self.space, _scaled(self.terms, factor), error)

    def widened(self, error: Fraction) -> FloatVector:
        return FloatVector(self.space, self.terms, error)

    def minimum(self, other: FloatVector) -> FloatVector:
        difference = self - other
        smaller = difference._restricted(difference._signs().negative)
        return FloatVector(self.space, (other + smaller).terms, self.error + other.error)

    def positive_part(self) -> FloatVector:
        return self._restricted(self._signs().positive)

    def total(self) -> Fraction:
        return sum((c * self.space.sum(key) for key, c in self.terms.items()), _ZERO)

    def value(self, token: int) -> Fraction:
        return self._entry(self._index(token)) if self._holds(token) else _ZERO

    def is_zero(self) -> bool:
        if not self.terms:
            return True
        signs = self._signs()
        return not signs.positive.any() and not signs.negative.any()

    def vanishes_identically(self) -> bool:
        return not self.terms or (not self.error and self.is_zero())

    def largest(self, count: int) -> list[int]:
        sizes = np.abs(self.approximate())
        if count < len(sizes):
            # The count-th largest block maximum is a lower bound of the count-th largest entry.
            width = max(len(sizes) // (64 * max(count, 1)), 1)
            whole = len(sizes) // width * width
            maxima = sizes[:whole].reshape(-1, width).max(axis=1)
            floor = np.partition(maxima, len(maxima) - count)[len(maxima) - count]
            entries = np.flatnonzero(sizes >= floor)
        else:
            entries = np.arange(len(sizes))
        entries = entries[np.lexsort((entries, -sizes[entries]))][:count]
        return [
            int(entry if self.space.ids is None else self.space.ids[entry]) for entry in entries
        ]

    def approximate(self) -> NDArray[np.float64]:
        """The entries as float64, for display and for ordering."""
        result = np.zeros(self.space.size)
        for (atom, masks), coefficient in self.terms.items():
            part = atom.values * float(coefficient)
            for mask in masks:
                part *= mask.array
            result += part
        return result

    def accepted_from(
        self, target: FloatVector, tested: FloatVector, zero_draft: str
    ) -> FloatVector:
        if self.terms == tested.terms:
            return self.minimum(target)
        drafted_atom, drafted_scale = self._single()
        tested_atom, tested_scale = tested._single()
        target_atom, target_scale = target._single()
        possible = drafted_atom.values > 0
        if _agree_where(possible, drafted_atom, tested_atom):
            kept = tested.minimum(target)._restricted(possible)
            return FloatVector(
                self.space,
                _scaled(kept.terms, drafted_scale / tested_scale),
                3 * (self.error + target.error + tested.error),
            )
        defined = tested_atom.values > 0
        if zero_draft == "accept":
            defined = defined | (target_atom.values > 0)
        below = (target - tested)._signs().negative
        quotient = divide_rounded(
            drafted_atom.values, target_atom.values, tested_atom.values, below
        )
        scale = drafted_scale * target_scale / tested_scale
        full = self._restricted(defined & ~below)
        rounded = Atom(quotient)
        partial = FloatVector(self.space, {(rounded, frozenset()): scale})
        error = (1 + self.error) * (1 + target.error) / (1 - tested.error) - 1
        error += 4 * _UNIT * partial.total() + _TINY
        return FloatVector(self.space, (full + partial).terms, error)

    def product(self, other: FloatVector) -> FloatVector:
        (first, first_scale), (second, second_scale) = self._single(), other._single()
        key = (first, second)
        if key not in self.space.products:
            high, low, lost = multiply_exactly(first.values, second.values)
            self.space.products[key] = (Atom(high), Atom(low), lost)
        high_atom, low_atom, lost = self.space.products[key]
        scale = first_scale * second_scale
        terms = {(high_atom, frozenset[Mask]()): scale, (low_atom, frozenset[Mask]()): scale}
        error = (1 + self.error) * (1 + other.error) - 1 + scale * lost
        return FloatVector(self.space, terms, error)

    def over_complement(self, law: FloatVector) -> tuple[FloatVector, Fraction]:
        atom, scale = law._single()
        probabilities = atom.values * float(scale)
        heavy = np.flatnonzero(probabilities > 0.5)
        values = self.approximate()
        rest = 1.0 - probabilities
        rest[heavy] = 1.0
        result = np.maximum(values, 0.0) / rest
        lost, error = _ZERO, 16 * _UNIT * (self._size() + 1) + _TINY
        error += 2 * self.error + 4 * law.error
        for entry in heavy.tolist():
            left = 1 - scale * Fraction(float(atom.values[entry]))
            value = self._entry(entry)
            result[entry] = float(value / left) if left else 0.0
            lost += _ZERO if left else value
            if left and value:
                margin = left - law.error
                error += (self.error + law.error) / (left * margin) if margin > 0 else Fraction(1)
        return FloatVector(self.space, {(Atom(result), frozenset()): Fraction(1)}, error), lost

    def drafted_outside(self, other: FloatVector) -> list[int]:
        outside = self._signs().positive & ~other._signs().positive
        entries = np.flatnonzero(outside)[:16]
        return [
            int(entry if self.space.ids is None else self.space.ids[entry]) for entry in entries
        ]

    def _combined(self, other: FloatVector, sign: int) -> FloatVector:
        terms = dict(self.terms)
        for key, coefficient in other.terms.items():
            total = terms.get(key, _ZERO) + sign * coefficient
            if total:
                terms[key] = total
            else:
                del terms[key]
        return FloatVector(self.space, terms, self.error + other.error)

    def _restricted(self, tokens: NDArray[np.bool_]) -> FloatVector:
        if tokens.all():
            return self
        if not tokens.any():
            return FloatVector(self.space, {}, self.error)
        mask = self.space.mask(tokens)
        terms: Terms = {}
        for (atom, masks), coefficient in self.terms.items():
            key = (atom, masks | {mask})
            terms[key] = terms.get(key, _ZERO) + coefficient
        return FloatVector(self.space, {k: c for k, c in terms.items() if c}, self.error)

    def _signs(self) -> Signs:
        key = frozenset(self.terms.items())
        known = self.space.signs
        if key not in known:
            signs = exact_sign_sets(
                self.space.size,
                [(a.values, [m.array for m in masks], c) for (a, masks), c in self.terms.items()],
            )
            known[key] = signs
            opposite = frozenset((k, -c) for k, c in self.terms.items())
            known[opposite] = Signs(signs.negative, signs.positive)
        return known[key]

    def _single(self) -> tuple[Atom, Fraction]:
        """Atom and coefficient of a vector that is one whole law."""
        ((atom, masks), coefficient), *more = self.terms.items()
        if masks or more:
            raise ValueError("this operation takes a law, not a combination of laws")
        return atom, coefficient

    def _size(self) -> Fraction:
        """Upper bound of ``sum |v(x)|``."""
        return sum((abs(c * self.space.sum(key)) for key, c in self.terms.items()), _ZERO)

    def _tokens(self, entries: NDArray[np.intp]) -> list[int]:
        chosen = entries if self.space.ids is None else self.space.ids[entries]
        return [int(token) for token in chosen]

    def _holds(self, token: int) -> bool:
        return self.space.ids is None or bool((self.space.ids == token).any())

    def _index(self, token: int) -> int:
        return token if self.space.ids is None else int(np.searchsorted(self.space.ids, token))

    def _entry(self, entry: int) -> Fraction:
        total = _ZERO
        for (atom, masks), coefficient in self.terms.items():
            if all(mask.array[entry] for mask in masks):
                total += coefficient * Fraction(float(atom.values[entry]))
        return total


def _scaled(terms: Terms, factor: Fraction) -> Terms:
    return {key: factor * c for key, c in terms.items()} if factor else {}


def _agree_where(tokens: NDArray[np.bool_], first: Atom, second: Atom) -> bool:
    return bool(np.array_equal(first.values[tokens], second.values[tokens]))
