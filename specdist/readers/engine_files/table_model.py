"""Tables of likely tokens, as data sets for distillation keep them, whatever they are stored in.

A sequence is a text with one row a position; a row is a list of ids and a list of values.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import islice
from math import frexp, inf, isfinite
from typing import Any

from specdist.model.row import Kind, NumberFormat
from specdist.readers.engine_files.ranked_checks import TokenValue

TEXT = "input_ids"
MASK = "target_mask"
IDS = ("topk_ids", "topk_indices", "token_ids", "target_token_ids")
"""Columns of ids, [positions][k] a sequence, by the names that public scripts use."""
VALUES = {
    "topk_logprobs": Kind.LOGPROBS,
    "target_logprobs": Kind.LOGPROBS,
    "top_values": None,
    "topk_logits": Kind.LOGITS,
}
"""Columns of values beside them, and what their name says that they are."""
SAMPLE_ROWS = 4096


@dataclass(frozen=True, slots=True)
class TableRow:
    """One row, without the entries that pad a short list. ``index`` and ``token``: where it stands
    and what stands there, if the row says so itself; ``others``: ids that are known to come next in
    likelihood, without their values."""

    entries: tuple[TokenValue, ...]
    place: str
    refused: str = ""
    index: int | None = None
    token: int | None = None
    others: tuple[int, ...] = ()
    padded: bool = False
    width: Fraction = Fraction(0)
    """How far the values may be off besides their rounding."""


def table_row(ids: Iterable[int], values: Iterable[float], place: str, **also: Any) -> TableRow:
    """A row of ids and values, where -inf is padding; ``also``: further members."""
    pairs = tuple(map(TokenValue, ids, values))
    entries = tuple(entry for entry in pairs if entry.value != -inf)
    return TableRow(entries, place, padded=len(entries) < len(pairs), **also)


@dataclass(frozen=True, slots=True)
class TableSequence:
    """The rows of one text; ``text`` are its ids, where the table has them."""

    number: int
    rows: tuple[TableRow, ...]
    text: tuple[int, ...] | None
    place: str


@dataclass(frozen=True, slots=True)
class Table:
    """A table and what its layout says of it.

    ``kind``: by the name of the values; ``ranked``: it declares the k most likely tokens;
    ``first_is_own``: a list may begin with the token that stands there, out of its order;
    ``numbers``: the format that a column of 16-bit numbers has; ``places``: rows say where they
    stand, so that nothing is shifted; ``shift``: as the writer of the format has it; ``about``:
    further facts.
    """

    source: str
    reader: str
    title: str
    sequences: Callable[[], Iterator[TableSequence]]
    columns: str
    kind: Kind | None
    ranked: bool
    first_is_own: bool = False
    numbers: NumberFormat | None = None
    places: bool = False
    shift: int | None = None
    vocab_size: int | None = None
    about: tuple[tuple[str, str], ...] = ()
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Sample:
    """The first sequences of a table; ``whole``: there are no others."""

    sequences: tuple[TableSequence, ...]
    whole: bool

    def rows(self) -> list[TableRow]:
        """Rows that list something, at most ``SAMPLE_ROWS``."""
        found = (
            row
            for sequence in self.sequences
            for row in sequence.rows
            if not row.refused and row.entries
        )
        return list(islice(found, SAMPLE_ROWS))


@dataclass(frozen=True, slots=True)
class Rounding:
    """How far stored values may lie from what was computed, and why; ``bits`` of the significand,
    or ``fixed`` half a unit of the last decimal."""

    told: str = ""
    bits: int = 0
    smallest: int = 0
    fixed: Fraction = Fraction(0)

    def half_width(self, row: TableRow) -> Fraction:
        """Half a unit in the last place of the largest finite value of a row."""
        if not self.bits:
            return self.fixed + row.width
        finite = (abs(entry.value) for entry in row.entries if isfinite(entry.value))
        largest = max(finite, default=0.0)
        exponent = max(frexp(largest)[1] - 1, self.smallest)
        return Fraction(2) ** (exponent - self.bits) + row.width


def sample_of(table: Table) -> Sample:
    """The first sequences, up to ``SAMPLE_ROWS`` rows."""
    found: list[TableSequence] = []
    count = 0
    for sequence in table.sequences():
        if count >= SAMPLE_ROWS:
            return Sample(tuple(found), False)
        found.append(sequence)
        count += len(sequence.rows)
    return Sample(tuple(found), True)
