"""What raw rows show of the processed rows beside them in one archive."""

from __future__ import annotations

from typing import TYPE_CHECKING

from specdist.model.row import NumberFormat, Stage
from specdist.readers.archive_contents import raw_sibling
from specdist.readers.axes import RowTable
from specdist.readers.row_blocks import read_rows
from specdist.readers.storage import Handles
from specdist.readers.tensor import Archive, Tensor

if TYPE_CHECKING:
    from specdist.readers.processed_pair import Processed

SAMPLE = 16


def shown_processing(archive: Archive, table: RowTable) -> tuple[Tensor, Processed] | None:
    """The raw tensor beside processed rows, and what it proves of their processing.

    Rows spread over the table are compared, float32 only. None where there is no such tensor, or
    where its rows are not those of ``table`` divided by one number.
    """
    from specdist.readers.processed_pair import processed_from

    raw = raw_sibling(archive, table.tensor)
    if raw is None or table.element.numbers is not NumberFormat.FLOAT32 or not table.count:
        return None
    step = max(1, table.count // SAMPLE)
    rows = range(0, table.count, step)
    with Handles() as handles:
        done = [r.array for r in read_rows(table, handles, NumberFormat.FLOAT32, None, rows)]
        before = read_rows(table.with_tensor(raw), handles, NumberFormat.FLOAT32, None, rows)
        found = processed_from([row.array for row in before], done)
    return None if found is None else (raw, found)


def stage_of(found: Processed) -> Stage:
    """What rows have been through, as their raw twins show."""
    if min(found.kept) < found.size:
        return Stage.PROCESSED
    return Stage.RAW if float(found.temperature) == 1 else Stage.TEMPERATURE
