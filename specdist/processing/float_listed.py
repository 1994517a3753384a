"""Listed float64 numbers as the entries of a carrier."""

from __future__ import annotations

from fractions import Fraction
from math import inf, nextafter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from specdist.errors import RowError
from specdist.model.row import FloatValues, Kind, ListedValues, Row
from specdist.processing.float_listing import FloatListing
from specdist.processing.float_reading import Numbers
from specdist.processing.float_row import FloatRow
from specdist.processing.float_weights import FloatArray, refuse_not_finite
from specdist.processing.listing import ANCHOR, BASE, CAP, ENTRIES, Read
from specdist.processing.rational_listed import no_listed_token


def read_float(row: Row, values: ListedValues) -> Read:
    """See `partial_reading`. Ends are rounded outwards. Raises RowError for NaN, +inf, a
    probability below 0, and for a row without a possible token."""
    ids, numbers = _numbers(row, values)
    probabilities = row.kind is Kind.PROBABILITIES
    width = values.half_width
    limit = 0.0 if probabilities and not width else -np.inf
    listed = ids
    if numbers.min() <= limit and not (probabilities and width):
        possible = numbers > limit
        listed, numbers = ids[possible], numbers[possible]
    if not len(numbers):
        raise no_listed_token(row.place)
    if not width:
        entries, scores = [listed], [numbers]
    else:
        low, high = _outwards(numbers, width)
        entries, scores = [listed, listed + BASE], [low, high]
        if probabilities and low.min() <= 0:
            surely = low > 0
            entries[0], scores[0] = listed[surely], low[surely]
    highest = float(scores[-1].max())
    cap = values.cap
    if cap is not None and (not probabilities or cap > 0):
        entries.append(np.array([CAP]))
        scores.append(np.array([_above(cap)]))
        highest = max(highest, _above(cap))
    entries.append(np.array([ANCHOR]))
    scores.append(np.array([highest]))
    carrier = FloatRow(
        size=ENTRIES,
        place=row.place,
        ids=np.concatenate(entries).astype(np.intp),
        dense=np.concatenate(scores),
        coded=None,
        logits=not probabilities,
        origin=("listed", row.kind, width, Numbers(ids), Numbers(_array(values))),
    )
    return Read(FloatListing(carrier), Fraction(highest))


def _array(values: ListedValues) -> NDArray[Any]:
    if not isinstance(values.values, FloatValues):
        raise TypeError("a float array is needed")
    return values.values.array


def _numbers(row: Row, values: ListedValues) -> tuple[NDArray[np.intp], FloatArray]:
    ids = np.asarray(values.ids, dtype=np.intp)
    numbers = _array(values).astype(np.float64)
    if not len(numbers):
        raise no_listed_token(row.place)
    refuse_not_finite(numbers, float(numbers.max()), row.place)
    if row.kind is Kind.PROBABILITIES and numbers.min() < 0:
        place = int(numbers.argmin())
        raise RowError(
            f"probability {float(numbers[place]):.6g} at token {int(ids[place])} is negative",
            place=row.place,
            expected="numbers from 0 to 1",
            advice="if these are logits or log-probabilities, say --kind logits or --kind logprobs",
        )
    return ids, numbers


def _outwards(numbers: FloatArray, width: Fraction) -> tuple[FloatArray, FloatArray]:
    """``numbers -+ width`` and a little more, which is more than the rounding of the sum."""
    step = _above(width)
    step += 2.0**-50 * (step + float(np.abs(numbers).max()))
    return numbers - step, numbers + step


def _above(value: Fraction) -> float:
    """The smallest float64 that is at least ``value``."""
    nearest = float(value)
    return nearest if Fraction(nearest) >= value else nextafter(nearest, inf)


def whole_array(row: Row, values: ListedValues, size: int) -> FloatArray:
    """The numbers of all tokens; those that are not listed are impossible."""
    ids, numbers = _numbers(row, values)
    whole = np.full(size, 0.0 if row.kind is Kind.PROBABILITIES else -np.inf)
    whole[ids] = numbers
    return whole
