"""What a rational row must satisfy before any step: a distribution, up to a stated rounding."""

from __future__ import annotations

import re
from decimal import Decimal
from fractions import Fraction
from typing import NamedTuple

from specdist.errors import NotNormalisedError, RowError
from specdist.model.row import Kind, NumberFormat, PointMass, RationalValues, Row
from specdist.processing.cut_remarks import own_sum_remark, sum_remark, written
from specdist.processing.dtype_hint import number_format_hint
from specdist.processing.logit import (
    ONE,
    ZERO,
    Logit,
    as_decimal,
    decimal_context,
    exact_sum,
    of_logit,
    of_probability,
)
from specdist.processing.row_sum import ROUNDING, Sums, softmax_units, sum_allowance
from specdist.processing.working_row import Remark

_DIGITS = 40
_DIGIT_ERROR = Fraction(1, 10**35)
_NEGLIGIBLE = Decimal("1e-60")
_DECIMALS = 3
"""Fewer decimals than this in a log-probability row are no evidence of rounding."""


class Checked(NamedTuple):
    """The logits of the possible tokens of a row, what had to be said about it, and its sum where
    that enters the test."""

    logits: dict[int, Logit]
    remarks: tuple[Remark, ...] = ()
    mass: Fraction = ONE


def checked_logits(row: Row, sums: Sums) -> Checked:
    """What a rational row starts from.

    Probabilities must sum to one: decimals exactly, stored floats within `row_sum.sum_allowance`,
    then read as weights over their exact sum. Log-probabilities must not exceed 0 by more than
    their rounding, and their exponentials must sum to one within it. ``sums`` says what to do with
    a row that does not; what is taken is remarked. Raises `NotNormalisedError` for a sum that is
    refused, `RowError` otherwise.
    """
    if isinstance(row.values, PointMass):
        if not 0 <= row.values.token < row.size:
            raise RowError(
                f"one-hot token {row.values.token} is outside the vocabulary",
                place=row.place,
                expected=f"a token id from 0 to {row.size - 1}",
            )
        return Checked({row.values.token: of_probability(ONE)})
    if not isinstance(row.values, RationalValues):
        raise TypeError("a float row has its own representation")
    if not row.size:
        raise RowError("the row holds no token", place=row.place, expected="one number per token")
    if row.kind is Kind.PROBABILITIES:
        return _probabilities(row, row.values.values, sums)
    logits = {x: of_logit(z) for x, z in enumerate(row.values.values) if z is not None}
    if not logits:
        raise RowError(
            "every token is masked: all values are -inf",
            place=row.place,
            expected="at least one finite value",
        )
    if row.kind is Kind.LOGPROBS:
        return Checked(logits, _logprob_remarks(row, logits, sums is Sums.RESCALED))
    return Checked(logits)


def _probabilities(row: Row, values: tuple[Fraction | None, ...], sums: Sums) -> Checked:
    for token, value in enumerate(values):
        if value is None or value < 0:
            raise RowError(
                f"probability of token {token} is {'-inf' if value is None else written(value)}",
                place=f"{row.place}[{token}]",
                expected="probabilities of at least 0",
                advice=kind_advice(row, "logits"),
            )
    present = {x: value for x, value in enumerate(values) if value}
    total = exact_sum(present.values())
    if not total:
        raise RowError(
            "every probability is 0", place=row.place, expected="probabilities that sum to 1"
        )
    deviation = total - 1
    if not deviation:
        return Checked({x: of_probability(value) for x, value in present.items()})
    logits = {x: of_probability(value / total) for x, value in present.items()}
    if sums is Sums.OWN:
        cause = "taken as they are, as --unnormalised asks"
        return Checked(logits, own_sum_remark("probabilities", deviation, cause), total)
    within = abs(deviation) <= sum_allowance(row.numbers, row.size, total)
    if not within and sums is Sums.STRICT:
        hint = number_format_hint(row, values)
        if not hint and max(present.values()) > 1:
            hint = kind_advice(row, "logits")
        raise _not_normalised(row, "probabilities", deviation, hint)
    remark = sum_remark("probabilities", deviation, repaired=not within)
    return Checked(logits, (remark,))


def kind_advice(row: Row, kind: str) -> str:
    """``if these are logits, say --kind logits``; rows typed on the command line carry their kind
    in the name of their option, which is the end of their place."""
    if re.search(r"--(target|draft)(-log\w+)?$", row.place) is None:
        return f"if these are {kind}, say --kind {kind}"
    return f"if these are {kind}, give them as --target-{kind} and --draft-{kind}"


def _logprob_remarks(row: Row, logits: dict[int, Logit], normalise: bool) -> tuple[Remark, ...]:
    """Checks log-probabilities; their deviation is never 0 exactly, unless one token has it all."""
    slack = _logprob_slack(row, logits)
    for token, logit in logits.items():
        if logit.shift > slack[token]:
            raise RowError(
                f"log-probability of token {token} is {written(logit.shift)}, above 0",
                place=f"{row.place}[{token}]",
                expected="log-probabilities of at most 0, up to the rounding of the number format",
                advice=kind_advice(row, "logits"),
            )
    context = decimal_context(_DIGITS)
    masses = {x: as_decimal(z.shift, context).exp(context) for x, z in logits.items()}
    deviation, allowance = Fraction(-1), _DIGIT_ERROR * len(logits)
    for token, mass in masses.items():
        exact = Fraction(mass) if mass > _NEGLIGIBLE else ZERO
        deviation += exact
        allowance += exact * slack[token] * (1 + slack[token])  # e^s - 1 <= s (1 + s) to s = 1
    if abs(deviation) <= _DIGIT_ERROR * len(logits):
        return ()
    within = abs(deviation) <= allowance
    if not within and not normalise:
        raise _not_normalised(row, "exponentials of the log-probabilities", deviation, "")
    remark = sum_remark("exponentials of the log-probabilities", deviation, repaired=not within)
    return (remark,)


def _logprob_slack(row: Row, logits: dict[int, Logit]) -> dict[int, Fraction]:
    """How far each log-probability may lie from the exact one.

    Stored floats: half a unit in the last place of the value, plus the error of the softmax.
    Decimals: half a unit of the last decimal that the row was written with, from three decimals
    on, or half a unit of a float64 if that is larger, plus the error of a float64 softmax.
    """
    numbers = row.numbers if row.numbers is not NumberFormat.DECIMAL else NumberFormat.FLOAT64
    rounding = ROUNDING[numbers]
    softmax = softmax_units(row.size) * rounding.accumulator
    digit = ZERO
    if row.numbers is NumberFormat.DECIMAL:
        places = max(decimal_places(logit.shift) for logit in logits.values())
        digit = Fraction(1, 2 * 10**places) if places >= _DECIMALS else ZERO
    return {x: max(rounding.unit * abs(z.shift), digit) + softmax for x, z in logits.items()}


def decimal_places(value: Fraction) -> int:
    """How many decimals ``value`` is written with; 0 when it is no finite decimal."""
    twos = fives = 0
    rest = value.denominator
    while rest % 2 == 0:
        rest //= 2
        twos += 1
    while rest % 5 == 0:
        rest //= 5
        fives += 1
    return max(twos, fives) if rest == 1 else 0


def _not_normalised(row: Row, what: str, deviation: Fraction, hint: str) -> NotNormalisedError:
    short = max(abs(deviation.numerator), deviation.denominator) < 10**40
    exact = str(abs(deviation)) if short else written(abs(deviation))
    tail = f" ({written(abs(deviation))})" if written(abs(deviation)) != exact else ""
    kind = "" if row.numbers is NumberFormat.DECIMAL else f" beyond {row.numbers.value} rounding"
    return NotNormalisedError(
        f"{what} sum to 1 {'+' if deviation > 0 else '-'} {exact}{tail}{kind}",
        place=row.place,
        expected="a sum of exactly 1" if not kind else "a sum of 1 within the rounding bound",
        advice=(f"{hint}; " if hint else "") + "--normalise rescales the row and reports it",
    )
