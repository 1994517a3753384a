"""The steps that make a dumped row anew: other vocabularies, mixtures, explicit masses."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Sequence
from dataclasses import replace
from fractions import Fraction
from math import lcm
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from specdist.exact.float_sum import exact_sum
from specdist.processing.cut_remarks import lost_mass_remark
from specdist.processing.float_weights import SMALLEST, UNIT, FloatArray
from specdist.processing.rational_remakes import HALF, share_error
from specdist.processing.working_row import Remade, Remark, Shares

if TYPE_CHECKING:
    from specdist.processing.float_row import FloatRow

_ONE = Fraction(1)
_ZERO = Fraction(0)
_WHOLE = 1 << 53
UNDERFLOW = Fraction(1, 2**200)
"""More than all weights below 2^-1022 can be off together; see `float_weights`."""


def of_weights(
    row: FloatRow,
    tokens: NDArray[np.intp],
    weights: FloatArray,
    error: Fraction,
    unit: Fraction,
    step: Hashable,
    *,
    size: int | None = None,
    mass: Fraction = _ONE,
    remarks: tuple[Remark, ...] = (),
) -> FloatRow:
    """The row with these positive weights (rising tokens) in place of its own."""
    size = row.size if size is None else size
    return replace(
        row,
        size=size,
        ids=None if len(tokens) == size else tokens,
        dense=weights,
        coded=None,
        logits=False,
        origin=(row.identity(), step),
        remarks=row.remarks + remarks,
        temperature=_ONE,
        score_error=_ZERO,
        weight_error=min(error, HALF),
        order=None,
        logarithms=False,
        unit=unit,
        mass=mass,
    )


def mapped(row: FloatRow, targets: Sequence[int], size: int) -> FloatRow:
    """See `WorkingRow.mapped`."""
    goals = np.array(targets, dtype=np.intp)
    inside = _inside(row, goals[row.tokens()] >= 0, "vocab-map", "on tokens without a target id")
    own = goals[inside.tokens()]
    order = np.argsort(own)
    return replace(
        inside,
        size=size,
        ids=None if len(own) == size else own[order],
        dense=inside.scores()[order],
        coded=None,
        order=None if inside.order is None else inside.order[order],
        origin=(row.origin, ("vocab-map", goals.tobytes())),
    )


def resized(row: FloatRow, size: int) -> FloatRow:
    """See `WorkingRow.resized`."""
    inside = _inside(row, row.tokens() < size, "vocab-size", f"on ids from {size} on")
    tokens = inside.tokens()
    whole = len(tokens) == size
    return replace(
        inside,
        size=size,
        ids=None if whole else tokens,
        dense=inside.scores(),
        coded=None,
        origin=(row.origin, ("vocab-size", size)) if whole else row.origin,
    )


def _inside(row: FloatRow, inside: NDArray[np.bool_], step: str, where: str) -> FloatRow:
    remarks: tuple[Remark, ...] = ()
    if not inside.all() and inside.any():
        weights, _ = row.weighed(row.scores())
        lost = exact_sum(weights[~inside]) / exact_sum(weights)
        remarks = lost_mass_remark(step, lost, where)
    return row.chosen(np.flatnonzero(inside), "keeps no token", remarks)


def shares(row: FloatRow) -> Shares:
    """See `WorkingRow.shares`."""
    weights, bound = row.weighed(row.scores())
    total = exact_sum(weights)
    pairs = zip(row.tokens().tolist(), weights.tolist(), strict=True)
    return Shares({x: Fraction(weight) / total for x, weight in pairs}, bound)


def remade(row: FloatRow, made: Remade) -> FloatRow:
    """See `WorkingRow.remade`. Weights are whole numbers where float64 holds them, else rounded."""
    tokens = sorted(made.by_token)
    values = [made.by_token[x] for x in tokens]
    common = lcm(*{value.denominator for value in values})
    whole = [value.numerator * (common // value.denominator) for value in values]
    error = made.bound
    if max(whole) <= _WHOLE:
        weights, unit = np.array(whole, dtype=np.float64), Fraction(sum(whole))
    else:
        largest = max(values)
        weights = np.array([max(float(value / largest), SMALLEST) for value in values])
        unit = exact_sum(weights)
        error = (1 + error) * (1 + 4 * UNIT) - 1 + UNDERFLOW
    return of_weights(
        row,
        np.array(tokens, dtype=np.intp),
        weights,
        error,
        unit,
        made.step,
        size=made.size,
        mass=made.mass,
        remarks=made.remarks,
    )


def mixed(row: FloatRow, other: FloatRow, tokens: Collection[int]) -> FloatRow:
    """See `WorkingRow.mixed`: ``w(x) [x listed] + (w outside / sum v) v(x)``, three roundings."""
    listed = np.isin(row.tokens(), np.array(sorted(tokens), dtype=np.intp))
    weights, bound = row.weighed(row.scores())
    refused = exact_sum(weights[~listed])
    if not refused:
        return row.chosen(np.flatnonzero(listed), "keeps no token")
    others, other_bound = other.weighed(other.scores())
    scale = refused / exact_sum(others)
    made = np.zeros(row.size)
    made[row.tokens()[listed]] = weights[listed]
    made[other.tokens()] += np.maximum(others * float(scale), SMALLEST)
    kept = np.flatnonzero(made)
    errors = (1 + share_error(bound)) * (1 + share_error(other_bound))
    return of_weights(
        row,
        kept,
        made[kept],
        errors * (1 + 4 * UNIT) - 1 + UNDERFLOW,
        exact_sum(weights),
        ("lazy-allowed", tuple(sorted(tokens)), other.identity()),
        remarks=tuple(remark for remark in other.remarks if remark not in row.remarks),
    )
