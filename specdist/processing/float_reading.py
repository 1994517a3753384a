"""From a captured float row to its scores: checks of range, sum and completeness."""

from __future__ import annotations

from collections.abc import Hashable
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from specdist.errors import NotNormalisedError, RowError
from specdist.exact.code_counts import code_counts
from specdist.exact.float_sum import exact_sum
from specdist.model.row import FloatValues, Kind, NumberFormat, PointMass, Row
from specdist.processing.cut_remarks import own_sum_remark, sum_remark, written
from specdist.processing.float_weights import (
    FloatArray,
    dumped_floats,
    float64_values,
    refuse_not_finite,
    sixteen_bit_codes,
    sixteen_bit_table,
    softmax_weights,
)
from specdist.processing.row_sum import ROUNDING, Sums, softmax_units, sum_allowance
from specdist.processing.working_row import Remark

_MINUS_ZERO = 0x8000


class Coded(NamedTuple):
    """A 16-bit row: one code a token, the score of every code, which codes occur, how often,
    and the row as it was dumped."""

    codes: NDArray[np.uint16]
    table: FloatArray
    present: NDArray[np.intp]
    counts: NDArray[np.intp]
    dumped: NDArray[Any]


class Reading(NamedTuple):
    """What a row starts from: dense scores of the kept tokens, or codes with their table.

    Scores that are weights sum to ``total``; ``mass`` is the sum that enters a test.
    """

    scores: NDArray[np.floating[Any]] | None
    ids: NDArray[np.intp] | None
    coded: Coded | None
    remarks: tuple[Remark, ...]
    origin: Hashable
    logits: bool = True
    total: Fraction = Fraction(1)
    mass: Fraction = Fraction(1)


class Numbers:
    """The dumped numbers of a row. Rows of equal numbers stand for one law, wherever they are."""

    __slots__ = ("array",)

    def __init__(self, array: NDArray[Any]) -> None:
        self.array = array

    def __hash__(self) -> int:
        return hash((self.array.dtype.str, len(self.array), self.array[:16].tobytes()))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Numbers) or self.array.dtype != other.array.dtype:
            return False
        return self.array is other.array or np.array_equal(self.array, other.array)


def origin_of(row: Row) -> Hashable:
    """What the scores of a row are made from."""
    if isinstance(row.values, FloatValues):
        return (row.kind, row.numbers, Numbers(row.values.array))
    return (row.place, id(row.values))


def read_row(row: Row, sums: Sums) -> Reading:
    """The scores a row starts from. Raises RowError for a row that holds no distribution."""
    if isinstance(row.values, PointMass):
        ids, weight = np.array([row.values.token], dtype=np.intp), np.array([1.0])
        return Reading(weight, ids, None, (), ("point", row.values.token), logits=False)
    if row.kind is Kind.PROBABILITIES:
        return read_probabilities(row, sums)
    return read_logprobs(row, sums) if row.kind is Kind.LOGPROBS else read_logits(row)


def read_logits(row: Row) -> Reading:
    """Logits, or log-probabilities (whose sum is checked by `read_logprobs`)."""
    codes = sixteen_bit_codes(row)
    origin = origin_of(row)
    if codes is not None:
        table = sixteen_bit_table(row)
        coded = _coded(codes, table, row)
        if np.isfinite(table[coded.present]).all():
            return Reading(None, None, coded, (), origin)
        scores: NDArray[np.floating[Any]] = table.take(codes)
    else:
        scores = dumped_floats(row)
    refuse_not_finite(scores, float(scores.max()), row.place)
    if scores.min() > -np.inf:
        return Reading(scores, None, None, (), origin)
    kept = np.flatnonzero(scores > -np.inf)
    if not len(kept):
        raise RowError(
            "every token is masked (-inf): the row holds no distribution",
            place=row.place,
            expected="at least one finite value",
        )
    return Reading(scores[kept], kept, None, (), origin)


def _coded(codes: NDArray[np.uint16], table: FloatArray, row: Row) -> Coded:
    """The codes of a row with -0.0 folded into 0.0, and how often each occurs."""
    counts = code_counts(codes)
    if counts[_MINUS_ZERO]:
        codes = np.where(codes == _MINUS_ZERO, np.uint16(0), codes)
        counts[0] += counts[_MINUS_ZERO]
        counts[_MINUS_ZERO] = 0
    present = np.flatnonzero(counts > 0)
    dumped = row.values.array if isinstance(row.values, FloatValues) else codes
    return Coded(codes, table, present, counts[present], dumped)


def read_logprobs(row: Row, sums: Sums) -> Reading:
    """Log-probabilities: none above 0 beyond rounding, and exponentials that sum to one."""
    reading = read_logits(row)
    scores = float64_values(row) if reading.scores is None else reading.scores.astype(np.float64)
    largest = float(scores.max())
    top_slack = _logprob_rounding(row, Fraction(0))
    if largest > float(top_slack):
        token = int(scores.argmax())
        token = token if reading.ids is None else int(reading.ids[token])
        raise RowError(
            f"log-probability {largest:.6g} at token {token} is above 0",
            place=f"{row.place}[{token}]",
            expected=f"at most {float(top_slack):.3g}, the rounding of {row.numbers}",
            advice="if these are logits, say --kind logits",
        )
    weights, bound = softmax_weights(scores, 0.0, Fraction(1), Fraction(0))
    total = exact_sum(weights)
    mean_size = exact_sum(np.abs(scores) * weights)
    allowance = _logprob_rounding(row, mean_size) + 2 * bound
    strict = sums is not Sums.RESCALED
    remarks = _sum_remarks(row, "exponentials", total, allowance, strict)
    return reading._replace(remarks=remarks)


def _logprob_rounding(row: Row, mean_size: Fraction) -> Fraction:
    """How far rounding moves ``sum exp(l)``: each l by ``u |l|``, and the softmax's own units."""
    rounding = ROUNDING.get(row.numbers, ROUNDING[NumberFormat.FLOAT64])
    stored = rounding.unit * mean_size
    return 2 * (stored + softmax_units(row.size) * rounding.accumulator)


def read_probabilities(row: Row, sums: Sums) -> Reading:
    """Probabilities: no negative ones, and a sum of one within the rounding of the format."""
    values = float64_values(row)
    largest, smallest = float(values.max()), float(values.min())
    refuse_not_finite(values, largest, row.place)
    if smallest < 0:
        token = int(values.argmin())
        raise RowError(
            f"probability {smallest:.6g} at token {token} is negative",
            place=f"{row.place}[{token}]",
            expected="numbers from 0 to 1",
            advice="if these are logits or log-probabilities, say --kind logits or --kind logprobs",
        )
    if largest == 0.0:
        raise RowError("every probability is 0: the row holds no distribution", place=row.place)
    total = exact_sum(values)
    kept = None if smallest > 0 else np.flatnonzero(values)
    scores = values if kept is None else values[kept]
    origin = origin_of(row)
    if sums is Sums.OWN:
        cause = "taken as they are, as --unnormalised asks"
        remarks = own_sum_remark("probabilities", total - 1, cause)
        return Reading(scores, kept, None, remarks, origin, False, total, total)
    allowance = sum_allowance(row.numbers, row.size, total)
    strict = sums is Sums.STRICT
    remarks = _sum_remarks(row, "probabilities", total, allowance, strict)
    return Reading(scores, kept, None, remarks, origin, False, total)


def _sum_remarks(
    row: Row, what: str, total: Fraction, allowance: Fraction, strict: bool
) -> tuple[Remark, ...]:
    deviation = total - 1
    if not deviation:
        return ()
    beyond = abs(deviation) > allowance
    if beyond and strict:
        raise NotNormalisedError(
            f"{what} sum to 1 {'+' if deviation > 0 else '-'} {written(abs(deviation))}",
            place=row.place,
            expected=f"1 within {written(allowance)}: {row.size} {row.numbers} values, rounded",
            advice="--normalise divides by the sum and says so; --kind says what the numbers are",
        )
    return (sum_remark(what, deviation, beyond),)
