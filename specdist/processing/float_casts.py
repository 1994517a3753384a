"""Casts of a dumped row to a float format: one rounding, decided exactly.

A float64 quotient or product near a midpoint of the format could round twice, to the wrong side;
such entries are rounded as fractions.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from specdist.errors import RowError
from specdist.exact.float_sum import exact_sum
from specdist.model.row import NumberFormat
from specdist.processing.cut_remarks import blurred_remark, share_slack
from specdist.processing.float_remakes import of_weights
from specdist.processing.float_weights import FloatArray
from specdist.processing.number_rounding import LARGEST, LOWEST, rounded_to
from specdist.processing.rational_remakes import cast_remarks, not_logits
from specdist.processing.row_sum import PRECISION

if TYPE_CHECKING:
    from specdist.processing.float_row import FloatRow

_ONE = Fraction(1)
_NEAR = 2.0**-50
"""Relative distance to a midpoint that three float64 roundings may bridge."""


class _Rounded(NamedTuple):
    """Values in the format (infinite beyond it), and how far each was from its midpoint."""

    values: FloatArray
    margins: FloatArray


def _rounded(
    values: FloatArray, numbers: NumberFormat, exact: Callable[[int], Fraction] | None
) -> _Rounded:
    """``values`` rounded to nearest even. ``exact`` gives the number that an entry stands for, to
    a relative `_NEAR`; None: the values are exact."""
    _, exponents = np.frexp(values)
    units = np.maximum(exponents - PRECISION[numbers], LOWEST[numbers])
    scaled = np.ldexp(values, -units)
    rounded = np.ldexp(np.rint(scaled), units)
    margins = np.abs(scaled - np.floor(scaled) - 0.5)
    if exact is not None:
        for entry in np.flatnonzero(margins <= _NEAR * np.abs(scaled)).tolist():
            nearest = rounded_to(exact(entry), numbers)
            rounded[entry] = np.copysign(np.inf, values[entry]) if nearest is None else nearest
    beyond = np.abs(rounded) > float(LARGEST[numbers])
    rounded[beyond] = np.copysign(np.inf, rounded[beyond])
    return _Rounded(rounded, np.ldexp(margins, units))


def rounded_logits(row: FloatRow, numbers: NumberFormat) -> FloatRow:
    """See `WorkingRow.rounded_logits`."""
    if not row.logits or row.logarithms:
        raise not_logits(row.place)
    if row.coded is None:
        scores, codes = row.scores(), None
    else:
        scores, codes = row.coded.table[row.coded.present], row.coded
    divisor = row.temperature
    exact = None if divisor == 1 else lambda entry: Fraction(float(scores[entry])) / divisor
    with np.errstate(over="ignore", invalid="ignore"):
        rounded, margins = _rounded(scores / float(divisor), numbers, exact)
    close = bool(row.score_error) and margins.min() <= 2 * float(row.score_error / divisor)
    if codes is not None:
        table = np.zeros(len(codes.table))
        table[codes.present] = rounded
        rounded = table.take(codes.codes)
    if rounded.max() == np.inf:
        token = int(row.tokens()[rounded.argmax()])
        raise RowError(
            f"the logit of token {token} overflows {numbers}",
            place=row.place,
            expected=f"logits in the range of {numbers}",
        )
    made = replace(
        row,
        dense=rounded,
        coded=None,
        origin=(row.origin, ("cast", numbers, divisor)),
        temperature=_ONE,
        score_error=Fraction(0),
        order=None,
        mass=_ONE,
    )
    remarks = (blurred_remark("cast", "a rounding"),) if close else ()
    return made.chosen(np.flatnonzero(rounded > -np.inf), "keeps no token", remarks)


def rounded_probabilities(row: FloatRow, numbers: NumberFormat) -> FloatRow:
    """See `WorkingRow.rounded_probabilities`."""
    weights, bound = row.weighed(row.scores())
    scale = row.mass / exact_sum(weights)
    values = weights * float(scale)
    rounded, margins = _rounded(
        values, numbers, lambda entry: Fraction(float(weights[entry])) * scale
    )
    if rounded.max() == np.inf:
        raise RowError(f"a probability overflows {numbers}", place=row.place)
    kept = np.flatnonzero(rounded)
    if not len(kept):
        raise RowError(f"every probability rounds to 0 in {numbers}", place=row.place)
    total = exact_sum(rounded[kept])
    remarks = cast_remarks(numbers, total)
    if _any_close(values, margins, bound):
        remarks += (blurred_remark("cast", "a rounding"),)
    return of_weights(
        row,
        row.tokens()[kept],
        rounded[kept],
        Fraction(0),
        total,
        ("cast", numbers, row.mass),
        mass=total,
        remarks=remarks,
    )


def _any_close(values: FloatArray, margins: NDArray[np.float64], bound: Fraction) -> bool:
    """Whether the error of a probability could move it over a midpoint."""
    slack = 2 * float(share_slack(_ONE, bound))
    return bool(bound) and bool((margins <= slack * values).any())
