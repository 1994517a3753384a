"""Single entries of combinations of float64 arrays, and the quotient by a complement."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from specdist.exact.float_atoms import Atom, Mask, SignKey, Terms

_ZERO = Fraction(0)


Parts = tuple[tuple[Fraction, float], ...]


def entry_parts(terms: Terms, entries: Sequence[int | None]) -> list[Parts]:
    """``sum_k c_k a_k(x) [x in M_k]`` for some entries x as its summands; none for None."""
    index = np.array([0 if entry is None else entry for entry in entries], dtype=np.intp)
    numbers = {atom: atom.at(index).tolist() for atom, _ in terms}
    columns = [_membership(masks, index) for _, masks in terms]
    known: dict[tuple[bool, ...], list[tuple[Atom, Fraction]]] = {}
    found: list[Parts] = []
    for place, entry in enumerate(entries):
        pattern = tuple([column[place] for column in columns])
        if pattern not in known:
            known[pattern] = _factors(terms, pattern)
        parts = [(factor, numbers[atom][place]) for atom, factor in known[pattern]]
        found.append(() if entry is None else tuple(parts))
    return found


def approximate_entries(terms: Terms, size: int) -> NDArray[np.float64]:
    """All entries rounded to float64."""
    result = np.zeros(size)
    for (atom, masks), coefficient in terms.items():
        part = atom.values * float(coefficient)
        for mask in masks:
            part *= mask.array
        result += part
    return result


def _membership(masks: frozenset[Mask], index: NDArray[np.intp]) -> list[bool]:
    inside = np.ones(len(index), dtype=np.bool_)
    for mask in masks:
        inside &= mask.array[index]
    return inside.tolist()


def worked_out(parts: Parts) -> Fraction:
    """The exact sum of some parts."""
    values = [factor * Fraction(number) for factor, number in parts]
    return sum(values[1:], values[0]) if values else _ZERO


def _factors(terms: Terms, pattern: tuple[bool, ...]) -> list[tuple[Atom, Fraction]]:
    """Coefficient of each atom where exactly these terms hold, without those that cancel."""
    factors: dict[Atom, Fraction] = {}
    for holds, ((atom, _), coefficient) in zip(pattern, terms.items(), strict=True):
        if holds:
            factors[atom] = factors.get(atom, _ZERO) + coefficient
    return [(atom, factor) for atom, factor in factors.items() if factor]


class Quotient(NamedTuple):
    """Rounded quotients, the sum of the dividends whose divisor is 0, and the inherited error."""

    values: NDArray[np.float64]
    lost: Fraction
    error: Fraction


def over_complement(
    values: NDArray[np.float64],
    exact: Callable[[int], Fraction],
    error: Fraction,
    law: tuple[Atom, Fraction],
    law_error: Fraction,
) -> Quotient:
    """``v(x) / (1 - law(x))`` rounded to float64, 0 where ``law(x) = 1``.

    ``values`` are the v(x) >= 0 rounded, ``exact(entry)`` gives one of them exactly. Where the
    law is at most 1/2 the divisor is at least 1/2 and float64 does; the one or two tokens above
    that are divided as fractions. ``error`` bounds what the errors of v and of the law make of it.
    """
    atom, scale = law
    probabilities = atom.values * float(scale)
    heavy = np.flatnonzero(probabilities > 0.5)
    rest = 1.0 - probabilities
    rest[heavy] = 1.0
    result = np.maximum(values, 0.0) / rest
    lost, inherited = _ZERO, 2 * error + 4 * law_error
    for entry in heavy.tolist():
        left = 1 - scale * Fraction(atom.entry(entry))
        value = exact(entry)
        result[entry] = float(value / left) if left else 0.0
        lost += _ZERO if left else value
        if left and value:
            margin = left - law_error
            inherited += (error + law_error) / (left * margin) if margin > 0 else Fraction(1)
    return Quotient(result, lost, inherited)


def sign_key(terms: Terms, sign: int) -> SignKey:
    """What the signs of a vector depend on; integers, because hashing a fraction is slow."""
    return frozenset((key, sign * c.numerator, c.denominator) for key, c in terms.items())


def scaled_terms(terms: Terms, factor: Fraction) -> Terms:
    return {key: factor * c for key, c in terms.items()} if factor else {}


def agree_where(tokens: NDArray[np.bool_], first: Atom, second: Atom) -> bool:
    return bool(np.array_equal(first.values[tokens], second.values[tokens]))
