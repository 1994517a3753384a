"""Notes that readers put on steps."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from fractions import Fraction
from sys import float_info

from specdist.model.finding import Finding, Severity
from specdist.model.row import FloatValues, Kind, ListedValues, RationalValues, Row

NOT_VERIFIED = Finding(
    "context-not-verified",
    Severity.NOTE,
    "context not verified: the two sides carry nothing that says which tokens they follow",
)

BEGINNING_UNKNOWN = Finding(
    "context-not-verified",
    Severity.NOTE,
    "context not verified before the first row: not both files say which tokens stand there",
    notes=("rows after different prompts would not be told apart",),
)


def processed_finding(sides: set[str]) -> Finding:
    """The warning for rows that were masked before they were captured."""
    who = " and ".join(sorted(sides, reverse=True))
    return Finding(
        "configuration-needed",
        Severity.WARNING,
        f"{who} rows hold -inf in a pattern of their own, so a mask was applied before "
        "capture; nobody says what else was",
        notes=("pass --stage processed, or --stage raw if the mask belongs to the model",),
    )


def sequence_notes(sequences: int) -> tuple[Finding, ...]:
    """The note for the rows of a batch, which goes on until its longest sequence is done."""
    if sequences < 2:
        return ()
    return (
        Finding(
            "configuration-needed",
            Severity.NOTE,
            f"rows of {sequences} sequences: those after the end of a sequence follow padding, "
            "and count like all others here",
            notes=("--rows 3,6 reads that many rows of each sequence", "--rows N of all of them"),
        ),
    )


CLAMPS = (
    -100.0,
    -1000.0,
    -9999.0,
    -10000.0,
    -99999.0,
    -65504.0,
    -(2.0**128 - 2.0**104),  # the lowest float32
    -(2.0**128 - 2.0**120),  # the lowest bfloat16
    -float_info.max,
)
"""Finite values that engines write in place of minus infinity."""


def clamp_notes(rows: Iterable[Row]) -> tuple[Finding, ...]:
    """A note where the lowest log-probability of a row is one of ``CLAMPS``: read as it is
    written, it is a possible token."""
    found = {low for row in rows if row.kind is Kind.LOGPROBS and (low := _lowest(row)) in CLAMPS}
    if not found:
        return ()
    values = " and ".join(f"{value:.9g}" for value in sorted(found))
    return (
        Finding(
            "configuration-needed",
            Severity.NOTE,
            f"log-probabilities of {values} look like a clamp for minus infinity",
            notes=("they are read as the finite numbers they are; write -inf if they are not",),
        ),
    )


def _lowest(row: Row) -> float:
    """The lowest finite value of a row, to float64; of a row known in part, of what is listed."""
    if isinstance(row.values, ListedValues):
        return _lowest(replace(row, values=row.values.values))
    if isinstance(row.values, RationalValues):
        known = [value for value in row.values.values if value is not None]
        low = min(known, default=Fraction(0))
        return float(low) if abs(low) <= float_info.max else 0.0
    if not isinstance(row.values, FloatValues):
        return 0.0
    from specdist.readers.row_values import widened

    values = widened(row.values.array[None, :], row.numbers)[0]
    return float(values.min(where=values > -float("inf"), initial=0.0))
