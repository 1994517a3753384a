"""One side of a pair of dumps: its rows, and what kind, stage and number format they have."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from specdist.errors import CaptureError
from specdist.model.row import FloatValues, Kind, NumberFormat, Row, Stage
from specdist.model.settings import ReadingSettings
from specdist.readers.archive_contents import why_no_rows
from specdist.readers.axes import RowTable, row_table
from specdist.readers.elements import as_row_element
from specdist.readers.evidence import Evidence, gather_evidence, kind_or_error
from specdist.readers.row_blocks import RowArray, read_rows
from specdist.readers.storage import Handles
from specdist.readers.tensor import Archive, Tensor

_NARROWER = {
    NumberFormat.FLOAT64: (NumberFormat.FLOAT32, NumberFormat.FLOAT16, NumberFormat.BFLOAT16),
    NumberFormat.FLOAT32: (NumberFormat.FLOAT16, NumberFormat.BFLOAT16),
}


@dataclass(frozen=True, slots=True)
class Side:
    """Target or draft rows of a pair. ``assumed`` says that nobody stated the stage."""

    label: str
    archive: Archive
    table: RowTable
    kind: Kind
    stage: Stage
    numbers: NumberFormat
    evidence: Evidence
    assumed: bool

    def rows(self, handles: Handles) -> Iterator[tuple[Row, bool]]:
        """Every row in order, and whether it shows the mask of an earlier processing step."""
        for found in read_rows(self.table, handles, self.numbers, self.kind):
            place = self.table.place_of(found.row)
            row = Row(FloatValues(found.array), self.kind, self.stage, self.numbers, place)
            yield row, found.masked and self.assumed and self._looks_processed(found)

    def _looks_processed(self, found: RowArray) -> bool:
        mask = neg_inf(found.array, self.numbers)
        if not mask.any() or mask.all():
            return False
        first = self.evidence.mask
        if self.table.count == 1:
            return not _is_padding(mask)
        return self.evidence.masks_vary or first is None or not np.array_equal(mask, first)

    def facts(self) -> list[tuple[str, str]]:
        """What ``inspect`` prints about this side."""
        label, table = self.label, self.table
        facts = [
            (label, f"{table.place}: {table.tensor.describe()}"),
            (f"{label} rows", f"{table.count} of {table.size} tokens"),
            (f"{label} kind", f"{self.kind.value} ({self.evidence.reason})"),
            (f"{label} numbers", self._numbers_fact()),
        ]
        mask = self.evidence.mask
        if mask is not None and mask.any():
            change = "varies between rows" if self.evidence.masks_vary else "is the same"
            facts.append(
                (
                    f"{label} mask",
                    f"-inf at {int(mask.sum())} of {table.size} tokens in the first "
                    f"row; the pattern {change} in the rows looked at",
                )
            )
        if self.evidence.sentinel is not None:
            facts.append(
                (
                    f"{label} lowest",
                    f"{self.evidence.sentinel:.6g}, which some tools write for "
                    "-inf; it is read as the finite number it is",
                )
            )
        if table.tensor.name.endswith("scores") and self.assumed:
            facts.append(
                (f"{label} name", "scores: transformers' output_scores are already processed")
            )
        return facts

    def _numbers_fact(self) -> str:
        stored = self.table.element
        text = self.numbers.value
        if stored.numbers is not self.numbers:
            text += f" (stored as {stored.name})"
        if stored.big_endian:
            text += ", big endian"
        if self.evidence.grid:
            text += f"; the rows looked at lie on the {self.evidence.grid} grid"
        return text


def make_side(archive: Archive, tensor: Tensor, label: str, reading: ReadingSettings) -> Side:
    """Reads a few rows and settles kind and format. Raises SpecdistError where it cannot."""
    place = f"{archive.source}, {tensor.name}"
    reason = why_no_rows(tensor)
    if reason:
        raise CaptureError(reason, place=place, expected="rows over the vocabulary")
    element = as_row_element(tensor.element, reading.numbers, place)
    size = reading.vocab_size if label != "draft" else None  # a draft may have ids of its own
    table = row_table(tensor, element, place, reading.axes, size)
    numbers = _numbers(element.numbers, reading.numbers, place)
    evidence = gather_evidence(table, numbers, reading.kind)
    kind = reading.kind or Kind.LOGITS
    if table.count and reading.kind is None:
        kind = kind_or_error(evidence, place, Kind.PROBABILITIES if reading.normalise else None)
    stage = reading.stage or Stage.RAW
    return Side(label, archive, table, kind, stage, numbers, evidence, reading.stage is None)


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
