"""What `inspect` says of an engine's file."""

from __future__ import annotations

from itertools import islice

from specdist.model.row import ListedValues
from specdist.readers.engine_files.engine_file import EngineFile, EngineRow

_LOOKED_AT = 64

Facts = list[tuple[str, str]]


def file_facts(file: EngineFile, side: str = "") -> Facts:
    """What the file is, what it holds, what was assumed, and what it allows to conclude."""
    looked_at = list(islice(file.rows(), _LOOKED_AT))
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


def _count(file: EngineFile, looked_at: list[EngineRow]) -> str:
    sequences = {row.sequence for row in looked_at}
    if file.count is not None:
        text = str(file.count)
    elif len(looked_at) < _LOOKED_AT:
        text = str(len(looked_at))
    else:
        text = f"more than {_LOOKED_AT - 1}, counted while checking"
    return text + (f", of {len(sequences)} sequences" if len(sequences) > 1 else "")


def _vocabulary(file: EngineFile, rows: list[EngineRow]) -> str:
    if file.vocab_size is not None:
        return f"{file.vocab_size} tokens"
    if any(isinstance(row.values, ListedValues) and row.values.open_ended for row in rows):
        return "size unknown: --vocab-size N closes bounds that depend on it"
    return ""


def _listed(rows: list[EngineRow]) -> str:
    """How many tokens the rows list, and how many positions are complete."""
    used = [row for row in rows if row.values is not None]
    partial = [len(row.values.ids) for row in used if isinstance(row.values, ListedValues)]
    if not used:
        return ""
    if not partial:
        return "complete rows"
    few, many = min(partial), max(partial)
    text = f"{few} tokens a row" if few == many else f"{few} to {many} tokens a row"
    capped = sum(1 for row in used if isinstance(row.values, ListedValues) and row.values.cap)
    complete = len(used) - len(partial)
    text += f", {complete} complete" if complete else ""
    return text + (f"; {capped} with a cap on unlisted tokens" if capped else "; no caps")


def _refused(rows: list[EngineRow]) -> str:
    reasons = [row for row in rows if row.refused]
    if not reasons:
        return ""
    return f"{len(reasons)} of the {len(rows)} positions looked at: {reasons[0].refused}"
