"""Columns at the end of rows that hold one number: how some engines pad a vocabulary.

Padding that holds minus infinity carries no probability; padding that holds 0, or what the padded
rows of a weight matrix give, does, and rows alone cannot tell it from tokens.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

LEAST_COLUMNS = 8
"""Fewer equal columns than this may be chance."""


@dataclass(frozen=True, slots=True)
class Padding:
    """The last ``columns`` of every row looked at hold ``value``; ``masses`` is the share of the
    softmax that they carry in each of those rows, rounded."""

    columns: int
    size: int
    value: float
    masses: tuple[float, ...]

    def text(self) -> str:
        least, most = min(self.masses), max(self.masses)
        share = f"{least:.4g}" if f"{least:.4g}" == f"{most:.4g}" else f"{least:.4g} to {most:.4g}"
        return (
            f"the last {self.columns} of {self.size} columns hold {self.value:g} in the rows "
            f"looked at, with {share} of the probability; if they pad the vocabulary, the step "
            f"vocab-size:{self.size - self.columns} of a recipe cuts them"
        )


def equal_columns(rows: Sequence[NDArray[np.float64]]) -> Padding | None:
    """What ``rows`` [V] of logits have in common at their end, where it is a finite number."""
    if not rows or not np.isfinite(value := float(rows[0][-1])):
        return None
    size = len(rows[0])
    columns = min(_run(row, value) for row in rows)
    if not LEAST_COLUMNS <= columns < size:
        return None
    return Padding(columns, size, value, tuple(_mass(row, size - columns) for row in rows))


def _run(row: NDArray[np.float64], value: float) -> int:
    other = np.flatnonzero(row != value)
    return len(row) - 1 - int(other[-1]) if len(other) else len(row)


def _mass(row: NDArray[np.float64], start: int) -> float:
    weights = np.exp(row - row.max())
    return float(weights[start:].sum() / weights.sum())
