"""The rows of the benchmarks: logits N(0, s^2), draft = target + N(0, 1), in the dumped formats."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from specdist.model.capture import Position, Step
from specdist.model.row import FloatValues, Kind, NumberFormat, Row, Stage

VOCABULARY = 151_936
PAIRS = 64


def stored(values: NDArray[np.float64], numbers: NumberFormat) -> NDArray[np.generic]:
    """Values rounded to a format: bfloat16 as uint16 bit patterns (round to nearest even)."""
    if numbers is NumberFormat.BFLOAT16:
        bits = values.astype(np.float32).view(np.uint32)
        return ((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16).astype(np.uint16)
    return values.astype(np.dtype(numbers.value))


def pairs(
    numbers: NumberFormat, count: int = PAIRS, spread: float = 3.0, seed: int = 0
) -> list[tuple[NDArray[np.generic], NDArray[np.generic]]]:
    """``count`` target and draft rows [V]."""
    random = np.random.default_rng(seed)
    made = []
    for _ in range(count):
        target = random.normal(0, spread, VOCABULARY)
        draft = target + random.normal(0, 1, VOCABULARY)
        made.append((stored(target, numbers), stored(draft, numbers)))
    return made


def step_of(
    index: int, target: NDArray[np.generic], draft: NDArray[np.generic], numbers: NumberFormat
) -> Step:
    """One step of one position over a pair of rows."""
    rows = [
        Row(FloatValues(array), Kind.LOGITS, Stage.RAW, numbers, f"{side}[{index}]")  # type: ignore[arg-type]
        for side, array in (("target", target), ("draft", draft))
    ]
    return Step(f"row:{index}", f"row {index}", (Position(0, rows[0], rows[1]),))
