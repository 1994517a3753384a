"""From a table of likely tokens to the rows of an engine's file."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from specdist.errors import CaptureError
from specdist.model.row import Kind, NumberFormat, Stage
from specdist.model.settings import ReadingSettings
from specdist.readers.engine_files.engine_file import EngineFile, EngineRow
from specdist.readers.engine_files.ranked_checks import TokenValue, is_falling
from specdist.readers.engine_files.ranked_list import (
    CPU_LANES,
    LARGEST_VOCABULARY,
    RankedList,
    listed_values,
    looks_complete,
    sum_slack,
)
from specdist.readers.engine_files.table_evidence import (
    kind_of,
    refuse_renormalised,
    rounding_of,
    row_mass,
)
from specdist.readers.engine_files.table_model import (
    Rounding,
    Sample,
    Table,
    TableRow,
    TableSequence,
    sample_of,
)
from specdist.readers.engine_files.table_shift import Shift, shift_of


def table_file(table: Table, reading: ReadingSettings) -> EngineFile:
    """The rows of a table. Raises CaptureError and RowError, for rows beyond the first ones while
    they are streamed."""
    sample = sample_of(table)
    rows = sample.rows()
    if not rows:
        raise CaptureError(
            "no row lists a token", place=table.source, expected="ids and values in some row"
        )
    rounding = rounding_of(table, rows, reading)
    kind, kind_evidence = kind_of(table, rows, rounding, reading)
    size = _size(table, rows, kind, reading)
    refuse_renormalised(table, rows, kind, rounding, reading, size)
    shift = shift_of(table, sample, reading)
    stage = reading.stage or Stage.RAW
    complete = size is not None and all(len(row.entries) == size for row in rows)
    reader = _Reader(table, kind, stage, shift.value, rounding, size)
    return EngineFile(
        source=table.source,
        reader=table.reader,
        title=table.title,
        rows=reader.rows,
        count=sum(len(found.rows) for found in sample.sequences) if sample.whole else None,
        vocab_size=size,
        stage=stage,
        stage_evidence="as told" if reading.stage is not None else "a table does not say it",
        assumed=reading.stage is None,
        kind_evidence=f"{kind.value} ({kind_evidence})",
        tokens=_texts(sample),
        shown=_shown(table, sample, rows, shift, rounding, kind),
        warnings=(*table.warnings, *_warnings(table, rows, shift, rounding, complete)),
        concludes=_concludes(complete, rounding, kind),
    )


class _Reader:
    """Makes the rows of a table, the same way every time."""

    def __init__(
        self,
        table: Table,
        kind: Kind,
        stage: Stage,
        shift: int,
        rounding: Rounding,
        size: int | None,
    ) -> None:
        self.table = table
        self.kind = kind
        self.stage = stage
        self.shift = shift
        self.rounding = rounding
        self.size = size
        terms = (LARGEST_VOCABULARY if size is None else size) // CPU_LANES
        self.slack = Fraction(0) if kind is Kind.LOGITS else sum_slack(terms)

    def rows(self) -> Iterator[EngineRow]:
        for sequence in self.table.sequences():
            for i, row in enumerate(sequence.rows):
                yield self._row(sequence, i, row)

    def _row(self, sequence: TableSequence, number: int, row: TableRow) -> EngineRow:
        index = number + self.shift if row.index is None else row.index + self.shift
        token = row.token
        if token is None and sequence.text is not None and index < len(sequence.text):
            token = sequence.text[index]
        entries = row.entries
        refused = row.refused or ("" if entries else "every value is -inf: the row is padding")
        values = None
        if not refused:
            ranked, more, own = self._ranked(entries, token)
            token = own if token is None else token
            found = RankedList(
                ranked=ranked,
                more=more,
                size=self.size,
                slack=self.slack,
                half_width=self.rounding.half_width(row),
            )
            values = listed_values(found, self.kind, row.place)
        return EngineRow(
            sequence=sequence.number,
            index=index,
            values=values,
            kind=self.kind,
            stage=self.stage,
            numbers=NumberFormat.FLOAT32,
            place=row.place,
            token=token,
            refused=refused,
        )

    def _ranked(
        self, entries: tuple[TokenValue, ...], token: int | None
    ) -> tuple[tuple[TokenValue, ...], tuple[TokenValue, ...], int | None]:
        """The most likely tokens, the others, and the token that stands first out of its order.

        Lists that were made from vLLM's hold the token of the text too. Where it comes last, it may
        have taken the place of a more likely one, so it bounds nothing.
        """
        rest = entries[1:]
        if self.table.ranked and is_falling(entries):
            last = entries[-1].token
            if rest and last == token and all(entry.token != last for entry in entries[:-1]):
                return entries[:-1], entries[-1:], None
            return entries, (), None
        if not self.table.ranked or not self.table.first_is_own or not is_falling(rest):
            return (), entries, None
        first = entries[0]
        if first.value <= rest[-1].value:
            return rest, (first,), first.token
        return tuple(sorted(entries, key=lambda entry: -entry.value)), (), first.token


def _size(table: Table, rows: list[TableRow], kind: Kind, reading: ReadingSettings) -> int | None:
    told = reading.vocab_size
    if told is not None and table.vocab_size not in (None, told):
        raise CaptureError(
            f"the table is of {table.vocab_size} tokens, --vocab-size says {told}",
            place=table.source,
            expected="one vocabulary",
        )
    if told is not None or table.vocab_size is not None:
        return told or table.vocab_size
    if kind is Kind.LOGITS:
        return None
    return looks_complete((row.entries for row in rows), kind)


def _texts(sample: Sample) -> dict[int, tuple[int, ...]]:
    """The contexts of a small table; the steps of a large one go without."""
    if not sample.whole:
        return {}
    return {found.number: found.text for found in sample.sequences if found.text is not None}


def _shown(
    table: Table,
    sample: Sample,
    rows: list[TableRow],
    shift: Shift,
    rounding: Rounding,
    kind: Kind,
) -> tuple[tuple[str, str], ...]:
    facts = [("columns", table.columns)]
    if not table.places:
        count = len(sample.sequences)
        facts.append(("sequences", str(count) if sample.whole else f"more than {count}"))
    if kind is not Kind.LOGITS:
        masses = [row_mass(row, kind) for row in rows]
        facts.append(("listed mass", f"{min(masses):.6g} to {max(masses):.6g}"))
    if not table.places:
        what = "token i + 1" if shift.value else "token i"
        how = " (assumed; --shift says otherwise)" if shift.assumed else ""
        facts.append(("shift", f"row i is the law of {what}: {shift.evidence}{how}"))
    if rounding.told or rounding.fixed:
        facts.append(("rounding", f"stored in {rounding.told}"))
    return (*facts, *table.about)


def _warnings(
    table: Table, rows: list[TableRow], shift: Shift, rounding: Rounding, complete: bool
) -> list[str]:
    told: list[str] = []
    if shift.assumed:
        told.append(f"--shift {shift.value} is assumed: {shift.evidence}")
    unordered = sum(not is_falling(row.entries) for row in rows)
    if not table.ranked and not complete:
        told.append(
            "nothing declares these lists as the most likely tokens, so nothing bounds a token "
            "outside them but the mass that is left"
        )
    elif unordered and not table.first_is_own:
        told.append(
            f"{unordered} of the {len(rows)} rows looked at are in no falling order: nothing "
            "bounds unlisted tokens one by one there"
        )
    padded = sum(row.padded for row in rows)
    if padded:
        told.append(
            f"{padded} of the {len(rows)} rows looked at hold -inf, which is read as padding of a "
            "short list"
        )
    if rounding.told:
        told.append(
            f"values are within half a unit of {rounding.told} of what was computed; "
            "--numbers float32 takes them as they stand"
        )
    return told


def _concludes(complete: bool, rounding: Rounding, kind: Kind) -> str:
    if complete and not rounding.told:
        return "complete rows: exact statements"
    if complete:
        return "complete rows, rounded: bounds"
    if kind is Kind.LOGITS:
        return "ratios of listed tokens; their probabilities only as far as caps bound the rest"
    return "bounds, as wide as the unlisted mass"
