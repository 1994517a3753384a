"""Acceptance over float64 arrays: the one place where two laws are divided token by token."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from specdist.exact.accept_test import AcceptTest, UniformGrid
from specdist.exact.float_atoms import Atom
from specdist.exact.float_entries import agree_where
from specdist.exact.float_terms import divide_rounded
from specdist.exact.rational_vector import quotient_error

if TYPE_CHECKING:
    from specdist.exact.float_vector import FloatVector

_ZERO = Fraction(0)
_UNIT = Fraction(1, 2**53)
_TINY = Fraction(1, 2**1000)
_DEEP = 2.0**-960
"""Rounded weights below this may be stored with a large relative error."""
_CLOSE = 2.0**-49
"""Relative error of a ratio and of its multiple of the grid, with room to spare."""


def accepted(
    drafted: FloatVector, target: FloatVector, tested: FloatVector, test: AcceptTest
) -> FloatVector:
    """``drafted * chance(target, tested)``: exact where the chance is 1 or a constant multiple of
    the target, else rounded with the rounding in its error."""
    if test.ideal and drafted.terms == tested.terms:
        return drafted.minimum(target)
    unsure = (target.error or tested.error) and target.terms != tested.terms
    choice = drafted.open or target.open or tested.open or bool(unsure)
    drafted, target, tested = whole(drafted), whole(target), whole(tested)
    by = _accepted_by_ratio if test.ideal else _accepted_by_chance
    return replace(by(drafted, target, tested, test), open=choice)


def whole(vector: FloatVector) -> FloatVector:
    """The vector as one array: itself if it is one law, else rounded to float64."""
    if len(vector.terms) == 1 and not next(iter(vector.terms))[1]:
        return vector
    error = vector.error + (len(vector.terms) + 2) * 2 * _UNIT * vector.size_bound() + _TINY
    rounded = vector.of({(Atom.of(vector.approximate()), frozenset()): Fraction(1)}, error)
    return replace(rounded, open=vector.open)


def _accepted_by_ratio(
    drafted: FloatVector, target: FloatVector, tested: FloatVector, test: AcceptTest
) -> FloatVector:
    drafted_atom, drafted_scale = drafted.single()
    tested_atom, tested_scale = tested.single()
    target_atom, target_scale = target.single()
    below = (target - tested).signs().negative
    relative = quotient_error(drafted.error, target.error, tested.error)
    if drafted_atom is tested_atom:  # below the tested law there is drafted mass
        part = target.restricted(below).scaled(drafted_scale / tested_scale)
        terms = (drafted.restricted(drafted.space.complement(below)) + part).terms
        return drafted.of(terms, relative + _tail(drafted, None, target, tested))
    possible = drafted_atom.values > 0
    if agree_where(possible, drafted_atom, tested_atom):
        part = target.restricted(possible & below).scaled(drafted_scale / tested_scale)
        terms = (drafted.restricted(possible & ~below) + part).terms
        return drafted.of(terms, relative + _tail(drafted, possible, target, tested))
    defined = tested_atom.values > 0
    if test.zero_draft == "accept":
        defined = defined | (target_atom.values > 0)
    elif test.zero_draft == "accept-all":
        defined = np.ones_like(defined)
    quotient = divide_rounded(drafted_atom.values, target_atom.values, tested_atom.values, below)
    scale = drafted_scale * target_scale / tested_scale
    partial = drafted.of({(Atom.of(quotient), frozenset()): scale}, _ZERO)
    terms = (drafted.restricted(defined & ~below) + partial).terms
    error = relative + 4 * _UNIT * partial.total() + _TINY
    return drafted.of(terms, error + _tail(drafted, possible, target, tested))


def _tail(
    drafted: FloatVector,
    possible: NDArray[np.bool_] | None,
    target: FloatVector,
    tested: FloatVector,
) -> Fraction:
    """Drafted mass where target/tested may be anything, because weights underflowed there.
    ``possible``: the tokens that can be drafted, None for all that are tested."""
    if not (target.error or tested.error):
        return _ZERO
    atom = tested.single()[0]
    levels = atom.levels
    if not ((levels > 0) & (levels < _DEEP)).any():
        return _ZERO
    deep = (atom.values > 0) & (atom.values < _DEEP)
    return drafted.restricted(deep if possible is None else deep & possible).total()


def _accepted_by_chance(
    drafted: FloatVector, target: FloatVector, tested: FloatVector, test: AcceptTest
) -> FloatVector:
    """Grids and epsilons: chances in float64. A ratio that is too close to a point of the grid to
    tell its side makes the chance uncertain by one point. ``drafted`` and so on are single laws."""
    mass, goal = drafted.approximate(), target.approximate()
    divisor = tested.approximate() + float(test.epsilon)
    possible = target.single()[0].values > 0
    zero = ~(tested.single()[0].values > 0) if not test.epsilon else np.zeros_like(possible)
    with np.errstate(over="ignore"):
        ratio = np.divide(goal, divisor, out=np.zeros_like(goal), where=~zero & (divisor > 0))
    ratio = np.where(possible & (ratio == 0), np.finfo(np.float64).tiny, np.minimum(ratio, 2.0))
    relative = quotient_error(_ZERO, target.error, tested.error)
    unsure = np.zeros(len(mass), dtype=np.bool_)
    if test.grid is None:
        chance = np.minimum(ratio, 1.0)
    else:
        capped = np.minimum(ratio, 1.0) if test.capped else ratio
        slack = _CLOSE + float(relative)
        chance, unsure = _on_grid(test.grid, capped, test.inclusive, slack)
    infinite, nothing = float(test.zero_chance), float(test.accepts_nothing)
    chance[zero] = np.where(possible[zero], infinite, nothing)
    product = drafted.of({(Atom.of(mass * chance), frozenset()): Fraction(1)}, _ZERO)
    apart = relative + 32 * _UNIT
    if test.grid is not None:
        apart *= test.grid.stretch
        apart += drafted.restricted(unsure).total() * test.grid.step
    error = drafted.error + apart + _TINY
    deep = ~zero & (divisor < _DEEP)  # there float64 tells nothing about the ratio
    return product.widened(error + drafted.restricted(deep).total())


def _on_grid(
    grid: UniformGrid, ratio: NDArray[np.float64], inclusive: bool, slack: float
) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """`UniformGrid.share` entry by entry, and where its count is uncertain by one."""
    edge = ratio * float(grid.points)
    top = np.floor(edge) if inclusive else np.ceil(edge) - 1.0
    size = float(grid.last - grid.first + 1)
    count = np.clip(np.minimum(top, float(grid.last)) - grid.first + 1.0, 0.0, size)
    unsure = np.abs(edge - np.rint(edge)) <= edge * slack
    unsure &= (edge > 0) & (ratio < 1.0 + slack)
    return count / size, unsure
