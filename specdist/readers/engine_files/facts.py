"""What `inspect` says of an engine's file."""

from __future__ import annotations

from itertools import islice
from typing import NamedTuple

from specdist.model.row import ListedValues
from specdist.readers.engine_files.engine_file import EngineFile, EngineRow

_LOOKED_AT = 64

Facts = list[tuple[str, str]]


class _Looked(NamedTuple):
    """What is kept of a row that was looked at: rows of large vocabularies are not held.

    ``listed`` is None for a complete row and for a position that is not used.
    """

    sequence: int
    refused: str
    used: bool
    listed: int | None
    capped: bool
    open_ended: bool

    @classmethod
    def at(cls, row: EngineRow) -> _Looked:
        values = row.values
        partial = values if isinstance(values, ListedValues) else None
        return cls(
            row.sequence,
            row.refused,
            values is not None,
            None if partial is None else len(partial.ids),
            partial is not None and partial.cap is not None,
            partial is not None and partial.open_ended,
        )


def file_facts(file: EngineFile, side: str = "") -> Facts:
    """What the file is, what it holds, what was assumed, and what it allows to conclude."""
    looked_at = [_Looked.at(row) for row in islice(file.rows(), _LOOKED_AT)]
    facts = [
        ("format", file.title),
        ("rows", _count(file, looked_at)),
        ("vocabulary", _vocabulary(file, looked_at)),
        ("listed", _listed(looked_at)),
        ("kind", file.kind_evidence),
        ("stage", f"{file.stage.value} ({_stage(file)})"),
        *((name, f"{value} (told by the file, not applied)") for name, value in _told(file)),
        *file.shown,
        *(("warning", text) for text in file.warnings),
        ("not used", _refused(looked_at)),
        ("concludes", file.concludes),
    ]
    return [(f"{side} {name}".strip(), text) for name, text in facts if text]


def _told(file: EngineFile) -> list[tuple[str, str]]:
    return [(name, value) for name, value in file.settings.items()]


def _stage(file: EngineFile) -> str:
    if not file.assumed:
        return file.stage_evidence
    return f"assumed: {file.stage_evidence}; --stage says otherwise"


def _count(file: EngineFile, looked_at: list[_Looked]) -> str:
    sequences = {row.sequence for row in looked_at}
    if file.count is not None:
        text = str(file.count)
    elif len(looked_at) < _LOOKED_AT:
        text = str(len(looked_at))
    else:
        text = f"more than {_LOOKED_AT - 1}, counted while checking"
    return text + (f", of {len(sequences)} sequences" if len(sequences) > 1 else "")


def _vocabulary(file: EngineFile, rows: list[_Looked]) -> str:
    if file.vocab_size is not None:
        return f"{file.vocab_size} tokens"
    if any(row.open_ended for row in rows):
        return "size unknown: --vocab-size N closes bounds that depend on it"
    return ""


def _listed(rows: list[_Looked]) -> str:
    """How many tokens the rows list, and how many positions are complete."""
    used = [row for row in rows if row.used]
    partial = [row.listed for row in used if row.listed is not None]
    if not used:
        return ""
    if not partial:
        return "complete rows"
    few, many = min(partial), max(partial)
    text = f"{few} tokens a row" if few == many else f"{few} to {many} tokens a row"
    capped = sum(row.capped for row in used)
    complete = len(used) - len(partial)
    text += f", {complete} complete" if complete else ""
    return text + (f"; {capped} with a cap on unlisted tokens" if capped else "; no caps")


def _refused(rows: list[_Looked]) -> str:
    reasons = [row for row in rows if row.refused]
    if not reasons:
        return ""
    return f"{len(reasons)} of the {len(rows)} positions looked at: {reasons[0].refused}"
