"""One side of a pair of dumps: its rows, and what kind, stage and number format they have."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from specdist.errors import CaptureError, RowError
from specdist.model.row import FloatValues, Kind, NumberFormat, Row, Stage
from specdist.model.settings import ReadingSettings
from specdist.readers.archive_contents import why_no_rows
from specdist.readers.axes import RowTable, row_table
from specdist.readers.batch_ends import check_ends
from specdist.readers.elements import as_row_element
from specdist.readers.evidence import Evidence, gather_evidence, kind_or_error
from specdist.readers.raw_siblings import shown_processing, stage_of
from specdist.readers.row_blocks import RowArray, read_rows
from specdist.readers.side_facts import side_facts
from specdist.readers.storage import Handles
from specdist.readers.tensor import Archive, Tensor
from specdist.readers.unwritten_rows import first_unwritten, unwritten

_NARROWER = {
    NumberFormat.FLOAT64: (NumberFormat.FLOAT32, NumberFormat.FLOAT16, NumberFormat.BFLOAT16),
    NumberFormat.FLOAT32: (NumberFormat.FLOAT16, NumberFormat.BFLOAT16),
}


@dataclass(frozen=True, slots=True)
class Side:
    """Target or draft rows of a pair. ``assumed`` says that nothing states the stage, ``vouched``
    that the user said how many rows there are."""

    label: str
    archive: Archive
    table: RowTable
    kind: Kind
    stage: Stage
    numbers: NumberFormat
    evidence: Evidence
    assumed: bool
    vouched: bool = False
    shown: str = ""
    """What another tensor of the archive shows of earlier processing."""

    def rows(self, handles: Handles) -> Iterator[tuple[Row, bool]]:
        """Every row in order, and whether it shows the mask of an earlier processing step."""
        for found in read_rows(self.table, handles, self.numbers, self.kind):
            if found.doubt and not self.vouched:
                self._check_written(found)
            place = self.table.place_of(found.row)
            row = Row(FloatValues(found.array), self.kind, self.stage, self.numbers, place)
            yield row, found.masked and self.assumed and self._looks_processed(found)

    def _check_written(self, found: RowArray) -> None:
        """Raises RowError for a row that nobody computed, among rows that a model did."""
        if self.kind is not Kind.LOGITS or self.evidence.all_doubtful:
            return
        error = unwritten(self.table, found.row, found.doubt)
        raise RowError(
            error.message, place=error.place, expected=error.expected, advice=error.advice
        )

    def _looks_processed(self, found: RowArray) -> bool:
        mask = neg_inf(found.array, self.numbers)
        if not mask.any() or mask.all():
            return False
        first = self.evidence.mask
        if self.table.count == 1:
            return not _is_padding(mask)
        return self.evidence.masks_vary or first is None or not np.array_equal(mask, first)

    @property
    def sequences(self) -> int:
        """How many sequences the rows belong to, where nobody said how many rows each has."""
        return 1 if self.vouched else len(self.table.lengths)

    @property
    def stage_text(self) -> str:
        """The stage, and what it rests on."""
        how = "as the file shows" if self.shown else "assumed" if self.assumed else "as told"
        return f"{self.stage.value} ({how})"

    def facts(self) -> list[tuple[str, str]]:
        """What ``inspect`` prints about this side."""
        return side_facts(self)


def make_side(archive: Archive, tensor: Tensor, label: str, reading: ReadingSettings) -> Side:
    """Reads a few rows and settles kind and format. Raises SpecdistError where it cannot."""
    place = f"{archive.source}, {tensor.name}"
    reason = why_no_rows(tensor)
    if reason:
        raise CaptureError(reason, place=place, expected="rows over the vocabulary")
    element = as_row_element(tensor.element, reading.numbers, place)
    size = reading.vocab_size if label != "draft" else None  # a draft may have ids of its own
    table = row_table(tensor, element, place, reading.axes, size)
    if reading.rows is not None:
        table = table.with_lengths(reading.rows)
    check_ends(archive, table, label)
    numbers = _numbers(element.numbers, reading.numbers, place)
    evidence = gather_evidence(table, numbers, reading.kind)
    if evidence.doubtful is not None and reading.rows is None:
        raise first_unwritten(table, numbers, evidence.doubtful)
    kind = reading.kind or Kind.LOGITS
    if table.count and reading.kind is None:
        kind = kind_or_error(evidence, place, Kind.PROBABILITIES if reading.normalise else None)
    known = None if reading.stage is not None else shown_processing(archive, table)
    cut = Stage.PROCESSED if evidence.cut else Stage.RAW
    stage = reading.stage or (cut if known is None else stage_of(known[1]))
    return Side(
        label,
        archive,
        table,
        kind,
        stage,
        numbers,
        evidence,
        assumed=reading.stage is None and known is None,
        vouched=reading.rows is not None,
        shown="" if known is None else f"{known[0].name} in the same file, {known[1].text()}",
    )


def neg_inf(array: NDArray[Any], numbers: NumberFormat) -> NDArray[np.bool_]:
    """Where a stored row is minus infinity."""
    if numbers is NumberFormat.BFLOAT16:
        found: NDArray[np.bool_] = array == np.uint16(0xFF80)
        return found
    return np.isneginf(array)


def _is_padding(mask: NDArray[np.bool_]) -> bool:
    """-inf from some token to the end: a padded vocabulary rather than a cut."""
    return bool(mask[int(mask.argmax()) :].all())


def _numbers(stored: NumberFormat | None, told: NumberFormat | None, place: str) -> NumberFormat:
    if stored is None or told in (None, stored):
        return stored or NumberFormat.FLOAT32
    if told in _NARROWER.get(stored, ()):
        return told
    raise CaptureError(
        f"the tensor holds {stored.value}, --numbers says {told.value if told else ''}",
        place=place,
        expected="the stored format, or a narrower one that the values were computed in",
    )
