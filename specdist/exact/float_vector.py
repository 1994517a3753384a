"""Exact vectors at real vocabulary sizes: linear combinations of masked float64 arrays.

A `FloatVector` is ``v(x) = sum_k c_k a_k(x) [x in M_k]`` with exact rational ``c_k``, float64
arrays ``a_k >= 0`` (atoms) and sets of tokens ``M_k`` (intersections of masks). Sums, differences
and scaling work on the coefficients; ``min`` and the positive part select by the sign of such a
combination; exact totals come from `float_sum`. So everything but a quotient of two arrays stays
inside the algebra, and terms that cancel do so exactly and for the real-valued weights as well.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from specdist.exact.float_atoms import (
    Atom,
    Mask,
    Space,
    Terms,
    entries_of_largest,
    signs_of,
)
from specdist.exact.float_entries import (
    Parts,
    agree_where,
    approximate_entries,
    entry_parts,
    over_complement,
    scaled_terms,
    sign_key,
    worked_out,
)
from specdist.exact.float_filter import Signs
from specdist.exact.float_terms import divide_rounded, multiply_exactly
from specdist.exact.rational_vector import quotient_error
from specdist.exact.vector import Share

_ZERO = Fraction(0)
_UNIT = Fraction(1, 2**53)
_TINY = Fraction(1, 2**1000)
_DEEP = 2.0**-960
"""Rounded weights below this may be stored with a large relative error."""


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
        return FloatVector(self.space, scaled_terms(self.terms, factor), error)

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
        return worked_out(self.parts([token])[0])

    def is_zero(self) -> bool:
        if not self.terms:
            return True
        signs = self._signs()
        return not signs.positive.any() and not signs.negative.any()

    def vanishes_identically(self) -> bool:
        return not self.terms or (not self.error and self.is_zero())

    def same_as(self, other: FloatVector) -> bool:
        return self is other or (self.terms == other.terms and self.error == other.error)

    def largest(self, count: int) -> list[int]:
        if count <= 0:
            return []
        entries, sizes = self._candidates(count)
        entries = entries[np.lexsort((entries, -sizes))][: 2 * count + 16].tolist()
        if len(self.terms) > 1:  # nearly equal entries are put in order exactly
            exact = {entry: -abs(self._entry(entry)) for entry in entries}
            entries.sort(key=lambda entry: (exact[entry], entry))
        return self.space.tokens(np.array(entries[:count], dtype=np.intp))

    def _candidates(self, count: int) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
        """Entries that hold the ``count`` largest, and their sizes up to one factor."""
        if len(self.terms) == 1:
            ((atom, masks),) = self.terms
            if not masks:
                entries = atom.largest(count)
                return entries, np.array([atom.entry(entry) for entry in entries.tolist()])
        every = np.abs(self.approximate())
        entries = entries_of_largest(every, count)
        return entries, every[entries]

    def approximate(self) -> NDArray[np.float64]:
        """The entries as float64, for display and for ordering."""
        return approximate_entries(self.terms, self.space.size)

    def accepted_from(
        self, target: FloatVector, tested: FloatVector, zero_draft: str
    ) -> FloatVector:
        if self is tested or self.terms == tested.terms:
            return self.minimum(target)
        drafted_atom, drafted_scale = self._single()
        tested_atom, tested_scale = tested._single()
        target_atom, target_scale = target._single()
        possible = drafted_atom.values > 0
        below = (target - tested)._signs().negative
        relative = quotient_error(self.error, target.error, tested.error)
        if agree_where(possible, drafted_atom, tested_atom):
            part = target._restricted(possible & below).scaled(drafted_scale / tested_scale)
            terms = (self._restricted(possible & ~below) + part).terms
            return FloatVector(self.space, terms, relative + self._tail(possible, target, tested))
        defined = tested_atom.values > 0
        if zero_draft == "accept":
            defined = defined | (target_atom.values > 0)
        quotient = divide_rounded(
            drafted_atom.values, target_atom.values, tested_atom.values, below
        )
        scale = drafted_scale * target_scale / tested_scale
        partial = FloatVector(self.space, {(Atom.of(quotient), frozenset()): scale})
        terms = (self._restricted(defined & ~below) + partial).terms
        error = relative + 4 * _UNIT * partial.total() + _TINY
        return FloatVector(self.space, terms, error + self._tail(possible, target, tested))

    def _tail(
        self, possible: NDArray[np.bool_], target: FloatVector, tested: FloatVector
    ) -> Fraction:
        """Drafted mass where target/tested may be anything, because weights underflowed there."""
        if not (target.error or tested.error):
            return _ZERO
        values = tested._single()[0].values
        deep = possible & (values > 0) & (values < _DEEP)
        return self._restricted(deep).total() if deep.any() else _ZERO

    def product(self, other: FloatVector) -> FloatVector:
        (first, first_scale), (second, second_scale) = self._single(), other._single()
        key = (first, second)
        if key not in self.space.products:
            high, low, lost = multiply_exactly(first.values, second.values)
            self.space.products[key] = (Atom.of(high), Atom.of(low), lost)
        high_atom, low_atom, lost = self.space.products[key]
        scale = first_scale * second_scale
        terms = {(high_atom, frozenset[Mask]()): scale, (low_atom, frozenset[Mask]()): scale}
        error = (1 + self.error) * (1 + other.error) - 1 + scale * lost
        return FloatVector(self.space, terms, error)

    def over_complement(self, law: FloatVector) -> tuple[FloatVector, Fraction]:
        atom, scale = law._single()
        quotient = over_complement(
            self.approximate(), self._entry, self.error, (atom, scale), law.error
        )
        error = quotient.error + 16 * _UNIT * (self._size() + 1) + _TINY
        vector = FloatVector(
            self.space, {(Atom.of(quotient.values), frozenset()): Fraction(1)}, error
        )
        return vector, quotient.lost

    def positive_where_zero(self, other: FloatVector) -> Share | None:
        signs = other._signs()
        return self._restricted(~(signs.positive | signs.negative)).positive_share()

    def positive_share(self) -> Share | None:
        positive = self.positive_part()
        count = int(np.count_nonzero(self._signs().positive))
        return Share(positive.largest(1)[0], count, positive.total()) if count else None

    def drafted_outside(self, other: FloatVector) -> list[int]:
        if self is other or self.terms == other.terms:
            return []
        outside = (self._single()[0].values > 0) & ~(other._single()[0].values > 0)
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
        key = sign_key(self.terms, 1)
        known = self.space.signs
        if key not in known:
            signs = signs_of(self.space.size, self.terms)
            known[key] = signs
            known[sign_key(self.terms, -1)] = Signs(signs.negative, signs.positive)
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

    def parts(self, tokens: Sequence[int]) -> list[Parts]:
        return entry_parts(self.terms, [self.space.entry(token) for token in tokens])

    def _entry(self, entry: int) -> Fraction:
        return worked_out(entry_parts(self.terms, [entry])[0])
