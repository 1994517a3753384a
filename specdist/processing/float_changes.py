"""The steps that change the scores of a dumped row: bias, penalties, temperature, logarithms."""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Mapping
from dataclasses import replace
from fractions import Fraction
from math import log
from typing import TYPE_CHECKING

import numpy as np

from specdist.processing.float_weights import UNIT, FloatArray, exact_powers

if TYPE_CHECKING:
    from specdist.processing.float_row import FloatRow

_ONE = Fraction(1)
_ZERO = Fraction(0)
_POWERS_OF_UNITS = 64


def add(row: FloatRow, changes: Mapping[int, Fraction]) -> FloatRow:
    """See `WorkingRow.add`."""
    row = as_logits(row)
    return _changed(
        row,
        changes,
        lambda score, token: score + changes[token] * row.temperature,
        _ONE,
        ("add", tuple(sorted((x, c * row.temperature) for x, c in changes.items()))),
    )


def penalise(row: FloatRow, tokens: Collection[int], factor: Fraction) -> FloatRow:
    """See `WorkingRow.penalise`: here the size of a logit matters, not only differences."""
    return _changed(
        _whole_logits(as_logits(row)),
        set(tokens),
        lambda score, token: score / factor if score > 0 else score * factor,
        max(factor, 1 / factor),
        ("penalise", tuple(sorted(set(tokens))), factor),
    )


def _changed(
    row: FloatRow,
    tokens: Collection[int],
    change: Callable[[Fraction, int], Fraction],
    stretch: Fraction,
    step: Hashable,
) -> FloatRow:
    """The row with some logits changed and rounded; ``stretch`` scales the errors so far."""
    scores = row.scores().copy()
    error = row.score_error
    for token in tokens:
        entry = row.entry(token)
        if entry is not None:
            wanted = change(Fraction(float(scores[entry])), token)
            scores[entry] = float(wanted)
            rounded = abs(Fraction(float(scores[entry])) - wanted)
            error = max(error, row.score_error * stretch + rounded)
    return _rescored(row, scores, error, step)


def _rescored(row: FloatRow, scores: FloatArray, error: Fraction, step: Hashable) -> FloatRow:
    return replace(
        row,
        dense=scores,
        coded=None,
        score_error=error,
        origin=(row.origin, step),
        order=None,
        mass=_ONE,
    )


def divide(row: FloatRow, temperature: Fraction) -> FloatRow:
    """See `WorkingRow.divide`."""
    power = temperature.denominator
    exact = not row.logits and not row.weight_error and temperature.numerator == 1
    if exact and (row.unit == 1 or power <= _POWERS_OF_UNITS):
        powers = exact_powers(row.scores(), power)
        if powers is not None:
            made = _rescored(row, powers, _ZERO, ("divide", temperature))
            return replace(made, unit=row.unit**power)
    logits = as_logits(row)
    return replace(logits, temperature=logits.temperature * temperature, mass=_ONE)


def as_logits(row: FloatRow) -> FloatRow:
    """Scores as natural logarithms; `numpy.log` is trusted to 4 units in the last place.

    Weights within a relative error b have logarithms within ``b / (1 - b)``, at most 2 b.
    """
    if row.logits:
        return row
    scores = np.log(row.scores())
    error = 8 * UNIT * Fraction(float(np.abs(scores).max())) + 2 * row.weight_error + UNIT**10
    return replace(
        row,
        dense=scores,
        coded=None,
        logits=True,
        logarithms=True,
        score_error=error,
        weight_error=_ZERO,
        order=None if row.weight_error else row.scores(),
    )


def _whole_logits(row: FloatRow) -> FloatRow:
    """The row with scores that are logarithms of probabilities, not only of weights."""
    if row.unit == 1:
        return row
    scale = row.unit.numerator.bit_length() - row.unit.denominator.bit_length()
    shift = log(row.unit / Fraction(2) ** scale) + scale * log(2.0)
    scores = row.scores() - shift
    largest = max(abs(shift), float(np.abs(scores).max()))
    error = row.score_error + 8 * UNIT * (Fraction(largest) + 1)
    return replace(row, dense=scores, coded=None, unit=_ONE, score_error=error)
