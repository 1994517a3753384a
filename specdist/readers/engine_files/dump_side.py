"""Rows of an array dump, in the form of an engine's file, so that either can meet the other."""

from __future__ import annotations

from collections.abc import Iterator

from specdist.model.row import FloatValues
from specdist.readers.contexts import RowContexts, side_contexts
from specdist.readers.engine_files.engine_file import EngineFile, EngineRow
from specdist.readers.notes import sequence_notes
from specdist.readers.sides import Side
from specdist.readers.storage import Handles


def dump_side(side: Side) -> EngineFile:
    """The rows of one side of a dump, one sequence."""
    contexts = side_contexts(side)

    def rows() -> Iterator[EngineRow]:
        with Handles() as handles:
            for index, (row, _) in enumerate(side.rows(handles)):
                if not isinstance(row.values, FloatValues):
                    raise TypeError("a dump holds float rows")
                yield EngineRow(
                    sequence=0,
                    index=index,
                    values=row.values,
                    kind=row.kind,
                    stage=row.stage,
                    numbers=row.numbers,
                    place=row.place,
                    token=_token(contexts, index),
                )

    return EngineFile(
        source=side.archive.source,
        reader=side.archive.reader,
        title=f"{side.table.tensor.describe()} of {side.archive.reader}",
        rows=rows,
        count=side.table.count,
        vocab_size=side.table.size,
        stage=side.stage,
        stage_evidence=side.shown or ("assumed" if side.assumed else "as told"),
        assumed=side.assumed,
        kind_evidence=f"{side.kind.value} ({side.evidence.reason})",
        warnings=tuple(finding.message for finding in sequence_notes(side.sequences)),
        placed=contexts is not None,
        concludes="complete rows: exact statements",
    )


def _token(contexts: RowContexts | None, row: int) -> int | None:
    """The token that stands at the place of a row."""
    if contexts is None:
        return None
    at = contexts.first + row
    return contexts.ids[at] if at < len(contexts.ids) else None
