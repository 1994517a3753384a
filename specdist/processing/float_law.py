"""From a finished float row to its law."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from specdist.exact.law import FloatLaw, LogScores

if TYPE_CHECKING:
    from specdist.processing.float_row import FloatRow

_SAFE_DEPTH = 700.0
"""Arguments of `exp` down to minus this lead to normal float64 weights."""


def law_of(row: FloatRow) -> FloatLaw:
    """Weights over their exact sum; see `float_weights` for the bound."""
    if row.coded is not None:
        codes, scores, present, counts, dumped = row.coded
        weights, bound = row.weighed(scores[present])
        table = np.zeros(len(scores))
        table[present] = weights
        return FloatLaw(
            row.size,
            bound,
            codes=codes,
            table=table,
            present=present,
            counts=counts,
            log_scores=_log_scores(row, dumped, scores[present]),
            origin=(row.origin, row.temperature),
            mass=row.mass,
        )
    kept = row.dense if row.dense is not None else row.scores()
    weights, bound = row.weighed(kept)
    behind = _log_scores(row, kept, kept) if row.logits and row.ids is None else None
    return FloatLaw(
        row.size,
        bound,
        dense=weights,
        ids=row.ids,
        log_scores=behind,
        origin=(row.origin, row.temperature),
        mass=row.mass,
    )


def _log_scores(
    row: FloatRow, dumped: NDArray[Any], scores: NDArray[np.floating[Any]]
) -> LogScores | None:
    """The scores behind the weights, unless a weight is so small that it may have underflowed.

    ``scores`` holds every score that occurs in ``dumped``.
    """
    largest = float(scores.max())
    depth = (largest - float(scores.min())) / float(row.temperature)
    if depth > _SAFE_DEPTH or row.score_error:
        return None
    return LogScores(dumped, largest, row.temperature)
