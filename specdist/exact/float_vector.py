"""Exact vectors at real vocabulary sizes: linear combinations of masked float64 arrays.

A `FloatVector` is ``v(x) = sum_k c_k a_k(x) [x in M_k]`` with exact rational ``c_k``, float64
arrays ``a_k >= 0`` (atoms) and sets of tokens ``M_k`` (intersections of masks). Sums, differences
and scaling work on the coefficients; ``min`` and the positive part select by the sign of such a
combination; exact totals come from `float_sum`. So everything but a quotient of two arrays stays
inside the algebra, and terms that cancel do so exactly and for the real-valued weights as well.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from specdist.exact.accept_test import AcceptTest
from specdist.exact.float_atoms import Atom, Terms, entries_of_largest, signs_of
from specdist.exact.float_entries import (
    Parts,
    approximate_entries,
    entry_parts,
    over_complement,
    scaled_terms,
    sign_key,
    worked_out,
)
from specdist.exact.float_filter import Signs
from specdist.exact.float_quotients import accepted, whole
from specdist.exact.float_space import Space
from specdist.exact.vector import Share

_ZERO = Fraction(0)
_UNIT = Fraction(1, 2**53)
_TINY = Fraction(1, 2**1000)


@dataclass(frozen=True, eq=False)
class FloatVector:
    """See the module and `ExactVector`. Built by `vectors.vectors_of_laws`.

    ``open``: ``error`` holds a choice that rounding left open, not only rounded weights.
    """

    space: Space
    terms: Terms
    error: Fraction = _ZERO
    open: bool = False

    @property
    def size(self) -> int:
        return self.space.size if self.space.vocabulary is None else self.space.vocabulary

    def __add__(self, other: FloatVector) -> FloatVector:
        return self._combined(other, 1)

    def __sub__(self, other: FloatVector) -> FloatVector:
        return self._combined(other, -1)

    def scaled(self, factor: Fraction, factor_error: Fraction = _ZERO) -> FloatVector:
        error = abs(factor) * self.error
        if factor_error:
            error += factor_error * (self.size_bound() + self.error)
        terms = scaled_terms(self.terms, factor)
        return FloatVector(self.space, terms, error, self.open or bool(factor_error))

    def widened(self, error: Fraction) -> FloatVector:
        return replace(self, error=error)

    def doubted(self, error: Fraction) -> FloatVector:
        return replace(self, error=self.error + error, open=True) if error else self

    def minimum(self, other: FloatVector) -> FloatVector:
        if self.same_as(other) and not other.open:
            return self
        difference = self - other
        smaller = difference.restricted(difference.signs().negative)
        return (other + smaller).widened(self.error + other.error)

    def positive_part(self) -> FloatVector:
        return self.restricted(self.signs().positive)

    def total(self) -> Fraction:
        return sum((c * self.space.sum(key) for key, c in self.terms.items()), _ZERO)

    def value(self, token: int) -> Fraction:
        return worked_out(self.parts([token])[0])

    def is_zero(self) -> bool:
        if not self.terms:
            return True
        signs = self.signs()
        return not signs.positive.any() and not signs.negative.any()

    def vanishes_identically(self) -> bool:
        return not (self.terms or self.open) or (not self.error and self.is_zero())

    def same_as(self, other: FloatVector) -> bool:
        return self is other or (self.terms == other.terms and self.error == other.error)

    def largest(self, count: int) -> list[int]:
        if count <= 0:
            return []
        entries, sizes = self._candidates(count)
        entries = entries[np.lexsort((entries, -sizes))][: 2 * count + 16].tolist()
        # Nearly equal entries are put in order exactly.
        if len(self.terms) > 1 or next(iter(self.terms), (None, True))[1]:
            exact = {entry: -abs(self.entry(entry)) for entry in entries}
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
        self, target: FloatVector, tested: FloatVector, test: AcceptTest
    ) -> FloatVector:
        return accepted(self, target, tested, test)

    def constant(self, value: Fraction) -> FloatVector:
        return self.of({(self.space.ones(), frozenset()): Fraction(value)} if value else {}, _ZERO)

    def where(
        self, condition: FloatVector, also_zero: bool = False, sure: FloatVector | None = None
    ) -> FloatVector:
        signs = condition.signs()
        holds = self.space.complement(signs.negative) if also_zero else signs.positive
        if sure is not None:
            holds = holds | sure.signs().positive
        kept = self.restricted(holds)
        if not condition.error:
            return kept
        margin = condition.constant(condition.error)
        open_sign = ~((condition - margin).signs().positive | (condition + margin).signs().negative)
        if sure is not None:
            open_sign &= ~sure.signs().positive
        doubtful = self.restricted(open_sign)
        return kept.doubted(2 * doubtful.positive_part().total() - doubtful.total())

    def among(self, tokens: Sequence[int]) -> FloatVector:
        chosen = np.zeros(self.space.size, dtype=np.bool_)
        entries = [self.space.entry(token) for token in tokens]
        chosen[[entry for entry in entries if entry is not None]] = True
        return self.restricted(chosen)

    def product(self, other: FloatVector) -> FloatVector:
        terms: Terms = {}
        lost = _ZERO
        for (first, here), c in self.terms.items():
            for (second, there), d in other.terms.items():
                high, low, cut = self.space.product(first, second)
                for atom in (high, low):
                    key = (atom, here | there)
                    terms[key] = terms.get(key, _ZERO) + c * d
                lost += abs(c * d) * cut
        error = (1 + self.error) * (1 + other.error) - 1 + lost
        return FloatVector(self.space, terms, error, self.open or other.open)

    def over_complement(self, law: FloatVector) -> tuple[FloatVector, Fraction]:
        law = whole(law)
        quotient = over_complement(
            self.approximate(), self.entry, self.error, law.single(), law.error
        )
        rounded = (4 * len(self.terms) + 12) * _UNIT * (self.size_bound() + 1)
        terms: Terms = {(Atom.of(quotient.values), frozenset()): Fraction(1)}
        error = quotient.error + rounded + _TINY
        return FloatVector(self.space, terms, error, self.open or law.open), quotient.lost

    def positive_where_zero(self, other: FloatVector) -> Share | None:
        signs = other.signs()
        return self.restricted(~(signs.positive | signs.negative)).positive_share()

    def positive_share(self) -> Share | None:
        positive = self.positive_part()
        count = int(np.count_nonzero(self.signs().positive))
        return Share(positive.largest(1)[0], count, positive.total()) if count else None

    def drafted_outside(self, other: FloatVector) -> list[int]:
        if self is other or self.terms == other.terms:
            return []
        outside = (self.single()[0].values > 0) & ~(other.single()[0].values > 0)
        return self.space.tokens(np.flatnonzero(outside)[:16])

    def of(self, terms: Terms, error: Fraction) -> FloatVector:
        """A vector over the same tokens."""
        return FloatVector(self.space, terms, error)

    def _combined(self, other: FloatVector, sign: int) -> FloatVector:
        terms = dict(self.terms)
        for key, coefficient in other.terms.items():
            total = terms.get(key, _ZERO) + sign * coefficient
            if total:
                terms[key] = total
            else:
                del terms[key]
        error, choice = self.error + other.error, self.open or other.open
        return FloatVector(self.space, terms, error, choice)

    def restricted(self, tokens: NDArray[np.bool_]) -> FloatVector:
        if tokens.all():
            return self
        if not tokens.any():
            return replace(self, terms={})
        mask = self.space.mask(tokens)
        terms: Terms = {}
        for (atom, masks), coefficient in self.terms.items():
            key = (atom, masks | {mask})
            terms[key] = terms.get(key, _ZERO) + coefficient
        return replace(self, terms={k: c for k, c in terms.items() if c})

    def signs(self) -> Signs:
        key = sign_key(self.terms, 1)
        known = self.space.signs
        if key not in known:
            signs = signs_of(self.space.size, self.terms)
            known[key] = signs
            known[sign_key(self.terms, -1)] = Signs(signs.negative, signs.positive)
        return known[key]

    def single(self) -> tuple[Atom, Fraction]:
        """Atom and coefficient of a vector that is one whole law."""
        ((atom, masks), coefficient), *more = self.terms.items()
        if masks or more:
            raise ValueError("this operation takes a law, not a combination of laws")
        return atom, coefficient

    def size_bound(self) -> Fraction:
        """Upper bound of ``sum |v(x)|``."""
        return sum((abs(c * self.space.sum(key)) for key, c in self.terms.items()), _ZERO)

    def parts(self, tokens: Sequence[int]) -> list[Parts]:
        return entry_parts(self.terms, [self.space.entry(token) for token in tokens])

    def entry(self, entry: int) -> Fraction:
        """One entry of the space, exactly."""
        return worked_out(entry_parts(self.terms, [entry])[0])
