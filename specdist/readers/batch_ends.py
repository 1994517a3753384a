"""Rows after the end of a sequence: a batch goes on until its longest sequence is done.

What a finished sequence computes meanwhile follows padding, not text. The ids of the batch show
such rows by equal tokens at the end of a sequence, but not whether the first of them is the end
token itself (many models pad with it), so nothing is cut without being told.
"""

from __future__ import annotations

from specdist.errors import CaptureError
from specdist.readers.axes import RowTable
from specdist.readers.integers import read_integers
from specdist.readers.tensor import Archive
from specdist.readers.tensor_names import CONTEXT_NAMES, sidecar


def check_ends(archive: Archive, table: RowTable, label: str) -> None:
    """Raises CaptureError where the ids of a batch end in equal tokens, and nobody gave ``--rows``.

    Only ids of the shape [sequences, prompt and new tokens] are looked at, one new token a row.
    """
    sequences = len(table.lengths)
    if table.used is not None or sequences < 2:
        return
    ids = _generated(archive, table, label)
    runs = [_run(tokens) for tokens in ids]
    if max(runs, default=1) < 2:
        return
    at = next(i for i, run in enumerate(runs) if run > 1)
    rows = table.grid[-1]
    without = [rows - run if run > 1 else rows for run in runs]
    ended = [rows - run + 1 if run > 1 else rows for run in runs]
    last, before = ids[at][-1], ids[at][-runs[at] - 1 :][0]
    raise CaptureError(
        f"sequence {at} of the batch ends in {runs[at]} tokens {last}: rows after its end follow "
        "padding, not text",
        place=table.place,
        expected="rows of tokens that were written",
        advice=f"pass --rows {_joined(without)} if {before} ends a text, --rows {_joined(ended)} "
        f"if {last} does, --rows {rows} if all rows count",
    )


def _joined(numbers: list[int]) -> str:
    return ",".join(map(str, numbers))


def _generated(archive: Archive, table: RowTable, label: str) -> list[tuple[int, ...]]:
    """The new tokens of each sequence, one for each of its rows; none where they are not known."""
    tensor = sidecar(archive, CONTEXT_NAMES, label)
    rows, sequences = table.grid[-1], len(table.lengths)
    if tensor is None or len(tensor.shape) != 2 or tensor.shape[0] != sequences:
        return []
    width = tensor.shape[1]
    if width < rows:
        return []
    ids = read_integers(tensor, f"{archive.source}, {tensor.name}")
    return [ids[at * width + width - rows : (at + 1) * width] for at in range(sequences)]


def _run(tokens: tuple[int, ...]) -> int:
    """How many equal tokens stand at the end."""
    return next((i for i, t in enumerate(reversed(tokens)) if t != tokens[-1]), len(tokens))
