"""What a few rows say about kind, stage and number format; the rest is the user's to say.

Decided only where the rows leave no doubt: sums or log-sum-exps near their normalised value, or
values that no probability and no log-probability can have.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from specdist.errors import CaptureError, RowError
from specdist.model.row import Kind, NumberFormat
from specdist.readers.axes import RowTable
from specdist.readers.row_blocks import RowArray, read_rows
from specdist.readers.row_columns import Padding, equal_columns
from specdist.readers.row_doubts import first_doubtful
from specdist.readers.row_values import widened
from specdist.readers.storage import Handles

SAMPLE = 4
_SUM_SLACK = {NumberFormat.BFLOAT16: 2.0**-7}
_LOG_SLACK = {NumberFormat.BFLOAT16: 0.07, NumberFormat.FLOAT16: 0.01}
_SLACK = 1e-3
_SENTINELS = (
    -9999.0,
    -99999.0,
    -65504.0,
    float(np.finfo(np.float32).min),
    float(np.finfo(np.float64).min),
    -(2.0**128 - 2.0**120),  # the lowest bfloat16
)


@dataclass(frozen=True, slots=True)
class Evidence:
    """Findings from the sampled rows. ``kind`` is None when they leave it open.

    ``mask`` is the -inf pattern of the first sampled row, ``masks_vary`` whether another sampled
    row has a different one. ``sentinel`` is a lowest value that tools write for minus infinity.
    """

    kind: Kind | None
    reason: str
    mask: NDArray[np.bool_] | None
    masks_vary: bool
    grid: str
    sentinel: float | None = None
    negative: bool = False
    """Whether a sampled row holds a finite value below 0."""
    masked: bool = False
    """Whether the sampled rows hold nothing but -inf."""
    kept: tuple[int, ...] = ()
    """How many tokens of each sampled row are not -inf."""
    doubtful: int | None = None
    """The first sampled row that looks like memory that was never written."""
    padding: Padding | None = None
    """Equal columns at the end of the rows of logits."""
    all_doubtful: bool = False
    """Whether every sampled row looks so, which makes none of them stand out."""
    cut: bool = False
    """Whether each sampled row shows a mask of its own, as filters leave it."""


def gather_evidence(table: RowTable, numbers: NumberFormat, kind: Kind | None) -> Evidence:
    """Reads up to four rows spread over the table. Raises RowError for numbers no row may hold."""
    if table.count == 0:
        return Evidence(kind, "there are no rows", None, False, "")
    found: list[RowArray] = []
    with Handles() as handles:
        found.extend(read_rows(table, handles, numbers, kind, _sampled(table)))
    values = [widened(row.array[None, :], numbers)[0] for row in found]
    masks = [np.isneginf(row) for row in values]
    kinds = [
        _kind_of(row, numbers) for row, mask in zip(values, masks, strict=True) if not mask.all()
    ]
    lowest = min(
        float(row.min(where=~mask, initial=0.0)) for row, mask in zip(values, masks, strict=True)
    )
    decided, reason = (kind, "as told") if kind is not None else _agreed(kinds)
    doubts = {row.row: row.doubt for row in found}
    logits = decided is Kind.LOGITS
    return Evidence(
        decided,
        reason,
        masks[0],
        masks_vary=any(not np.array_equal(mask, masks[0]) for mask in masks),
        grid=_common([_grid(row.array, numbers) for row in found]),
        sentinel=lowest if lowest in _SENTINELS else None,
        negative=lowest < 0,
        masked=all(mask.all() for mask in masks),
        kept=tuple(int((~mask).sum()) for mask in masks),
        doubtful=first_doubtful(doubts) if logits else None,
        padding=equal_columns(values) if logits else None,
        all_doubtful=all(doubts.values()),
        cut=_cut(np.array(masks)),
    )


def _cut(masks: NDArray[np.bool_]) -> bool:
    """Whether every row is masked at tokens that another row keeps, or at most of its tokens.

    A filter cuts every row. A ban in some of them, or padding, leaves rows without a mask of
    their own.
    """
    own = masks & ~masks.all(axis=0)
    return bool(own.any() and (own.any(axis=1) | (masks.mean(axis=1) > 0.5)).all())


def _sampled(table: RowTable) -> list[int]:
    """Up to four rows: the first, the last and some between; compressed members from the start."""
    sequential = any(piece.storage.sequential for piece in table.tensor.pieces)
    step = 1 if sequential else max(1, (table.count - 1) // (SAMPLE - 1))
    rows = {min(table.count - 1, k * step) for k in range(SAMPLE)}
    return sorted(rows if sequential else rows | {table.count - 1})


def kind_or_error(evidence: Evidence, place: str, otherwise: Kind | None = None) -> Kind:
    """The decided kind, or ``otherwise`` where no value is negative. Raises CaptureError that
    asks for ``--kind``, with the evidence, and RowError for rows that are masked as a whole."""
    if evidence.kind is not None:
        return evidence.kind
    if evidence.masked:
        raise RowError(
            "every token is masked: all values of the rows looked at are -inf",
            place=place,
            expected="at least one finite value in every row",
        )
    if otherwise is not None and not evidence.negative:
        return otherwise
    raise CaptureError(
        f"logits, log-probabilities or probabilities? {evidence.reason}",
        place=place,
        expected="rows whose kind is beyond doubt",
        advice="pass --kind logits, --kind logprobs or --kind probabilities",
    )


def _kind_of(values: NDArray[np.float64], numbers: NumberFormat) -> tuple[Kind | None, str]:
    finite = values[np.isfinite(values)]
    low, high = float(finite.min()), float(finite.max())
    if high > 1 or (low < 0 < high):
        return Kind.LOGITS, f"values from {low:.4g} to {high:.4g}"
    if high > 0 or low == high == 0:
        total = float(finite.sum())
        if len(finite) == len(values) and abs(total - 1) <= _SUM_SLACK.get(numbers, _SLACK):
            return Kind.PROBABILITIES, f"values in [0, 1] with sum {total:.6g}"
        return None, f"values from {low:.4g} to {high:.4g} with sum {total:.6g}"
    excess = high + float(np.log(np.exp(finite - high).sum()))
    slack = _LOG_SLACK.get(numbers, _SLACK)
    if abs(excess) <= slack:
        return Kind.LOGPROBS, f"all <= 0 with log-sum-exp {excess:.3g}"
    if excess > 4 * slack:
        return Kind.LOGITS, f"all <= 0 with log-sum-exp {excess:.4g}, above 0"
    return None, f"all <= 0 with log-sum-exp {excess:.4g}: a cut row, or shifted logits"


def _agreed(kinds: list[tuple[Kind | None, str]]) -> tuple[Kind | None, str]:
    if not kinds:
        return None, "every row looked at is masked"
    # A row that can only be logits settles rows that leave it open, for all are of one kind.
    settled = [found for found in kinds if found[0] is Kind.LOGITS]
    if settled:
        kinds = settled + [found for found in kinds if found[0] is not None]
    first, reason = kinds[0]
    for kind, other in kinds[1:]:
        if kind is not first:
            return None, f"one row has {reason}, another {other}"
    return first, reason


def _grid(array: NDArray[Any], numbers: NumberFormat) -> str:
    """The narrowest 16-bit format that holds every value of a float32 row, or nothing."""
    if numbers is not NumberFormat.FLOAT32:
        return ""
    bits = array.view(np.uint32)
    if not (bits & 0xFFFF).any():
        return "bfloat16"
    if not (bits & 0x1FFF).any() and float(np.abs(array[np.isfinite(array)]).max()) <= 65504:
        return "float16"
    return ""


def _common(grids: list[str]) -> str:
    return grids[0] if grids and all(grid == grids[0] for grid in grids) else ""
