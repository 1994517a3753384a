"""Whether row i of a table is the law of token i + 1, as a forward pass gives it, or of token i."""

from __future__ import annotations

from fractions import Fraction
from math import comb
from typing import NamedTuple

from specdist.errors import CaptureError
from specdist.model.settings import ReadingSettings
from specdist.readers.engine_files.table_model import Sample, Table, TableRow

_CHANCE = Fraction(1, 20)
"""How often chance alone may favour a shift as clearly as it must be favoured."""
_MOST = 512
"""Rows that list one of the two tokens and not the other; more do not make it clearer."""
_ASK = "pass --shift 1 if row i is the law of token i + 1, --shift 0 if it is that of token i"


class Shift(NamedTuple):
    """The shift, and how it is known."""

    value: int
    evidence: str
    assumed: bool


def shift_of(table: Table, sample: Sample, reading: ReadingSettings) -> Shift:
    """The shift as told, or by which of two tokens the rows list more often.

    Under the right shift a row lists the token that was drawn from it or that the teacher gave a
    good chance; under the wrong one its neighbour, by luck. Only rows that list one of them speak.
    With no difference either would be listed there as often, so the count of the one is binomial
    with chance 1/2, and a shift is taken where that has a probability of at most 1/20. Raises
    CaptureError where the rows do not decide, or contradict the format.
    """
    if table.places:
        return Shift(reading.shift or 0, "the rows say where they stand", False)
    if all(sequence.text is None for sequence in sample.sequences):
        told = reading.shift
        return Shift(told or 0, "as told" if told is not None else _NO_TEXT, told is None)
    counts = _counts(sample)
    said = (
        f"token i + 1 is listed in {counts.next_listed} of {counts.rows} rows, token i in "
        f"{counts.own_listed}"
    )
    if reading.shift is not None:
        return Shift(reading.shift, f"as told; {said}", False)
    favoured = _favoured(counts)
    if table.shift is not None and favoured in (None, table.shift):
        return Shift(table.shift, f"as this format is written; {said}", False)
    if table.shift is None and favoured is not None:
        return Shift(favoured, said, True)
    raise CaptureError(
        f"which token does a row predict? {said}",
        place=table.source,
        expected="rows that list the tokens of the text under one shift, not under the other",
        advice=_ASK,
    )


_NO_TEXT = "without the ids of the text nothing shows it, rows are numbered as they stand"


class _Counts(NamedTuple):
    rows: int
    next_listed: int
    own_listed: int
    next_only: int
    own_only: int


def _counts(sample: Sample) -> _Counts:
    rows = following = own = following_only = own_only = 0
    for sequence in sample.sequences:
        text = sequence.text or ()
        for i, row in enumerate(sequence.rows[: len(text) - 1]):
            listed = _listed(row)
            if not listed or text[i] == text[i + 1]:
                continue
            there, here = text[i + 1] in listed, text[i] in listed
            rows += 1
            following += there
            own += here
            following_only += there and not here
            own_only += here and not there
    return _Counts(rows, following, own, following_only, own_only)


def _listed(row: TableRow) -> set[int]:
    return {token for token, _ in row.entries} | set(row.others)


def _favoured(counts: _Counts) -> int | None:
    """The shift that the rows favour beyond chance; None where they leave it open."""
    if counts.next_only == counts.own_only or _by_chance(counts) > _CHANCE:
        return None
    return 1 if counts.next_only > counts.own_only else 0


def _by_chance(counts: _Counts) -> Fraction:
    """The chance of a count as large as the larger of the two, from fair coins."""
    more, fewer = max(counts[3:]), min(counts[3:])
    if more + fewer > _MOST:
        more, fewer = more * _MOST // (more + fewer), fewer * _MOST // (more + fewer)
    total = more + fewer
    return Fraction(sum(comb(total, k) for k in range(more, total + 1)), 2**total)
