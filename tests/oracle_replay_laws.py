"""Laws of the token that faulty engines emit, in plain float64 from the definition of each fault.

Imports nothing of specdist. A capture is a folder of raw logits and recorded steps; processing is
softmax of ``row / 0.8``, then top-p 0.95 (falling logit, ties by rising id, the shortest prefix
whose mass is at least 0.95). `emitted` is the law at one reached position, given the recorded path
before it; its mass may be below one where a rejection finds an empty residual.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
TEMPERATURE, TOP_P = 0.8, 0.95
THRESHOLD = 0.2
GRID = 256


@dataclass(frozen=True)
class Captured:
    """Raw rows by side and number, float64, and the recorded steps."""

    rows: dict[str, Array]
    steps: list[dict[str, Any]]

    def law(self, side: str, number: int, cut: bool = True) -> Array:
        logits = self.rows[side][number]
        weights = np.exp((logits - logits.max()) / TEMPERATURE)
        law = weights / weights.sum()
        if not cut:
            return np.asarray(law)
        order = np.lexsort((np.arange(len(law)), -logits))
        count = int(np.searchsorted(np.cumsum(law[order]), TOP_P)) + 1
        kept = np.zeros_like(law)
        kept[order[:count]] = law[order[:count]]
        return np.asarray(kept / kept.sum())


def read(folder: Path) -> Captured:
    """The rows of a folder: float32 .npy, float16 .npz, or bfloat16 .safetensors."""
    lines = (folder / "steps.jsonl").read_text(encoding="utf-8").splitlines()
    steps = [json.loads(line) for line in lines]
    if (folder / "target.npy").is_file():
        found = {side: np.load(folder / f"{side}.npy") for side in ("target", "draft")}
    elif (folder / "logits.npz").is_file():
        archive = np.load(folder / "logits.npz")
        found = {side: archive[side] for side in ("target", "draft")}
    else:
        found = dict(_safetensors(folder / "logits.safetensors"))
    return Captured({side: np.asarray(rows, np.float64) for side, rows in found.items()}, steps)


def _safetensors(path: Path) -> Iterator[tuple[str, Array]]:
    raw = path.read_bytes()
    start = 8 + int.from_bytes(raw[:8], "little")
    header = json.loads(raw[8:start])
    for side in ("target", "draft"):
        begin, end = header[side]["data_offsets"]
        halves = np.frombuffer(raw[start + begin : start + end], "<u2").astype(np.uint32)
        yield side, (halves << 16).view(np.float32).reshape(header[side]["shape"])


def reached(step: dict[str, Any]) -> int:
    """How many positions the step reached, that of the final token included."""
    return int(step["n_accepted"]) + 1


def emitted(capture: Captured, fault: str, step: dict[str, Any], index: int) -> Array:
    """The law under ``fault``: m1, m3, m5, m7, m8, m10."""
    rows = step["target_rows"]
    drafted = step["drafted"]
    fresh = index == len(drafted)
    if fresh and not (fault == "m8" and index < len(step["draft_rows"])):
        return capture.law("target", rows[index - 1] if fault == "m5" else rows[index])
    target = capture.law("target", rows[max(index - 1, 0)] if fault == "m5" else rows[index])
    draft = capture.law("draft", step["draft_rows"][index])
    numerator = capture.law("target", rows[index], cut=False) if fault == "m3" else target
    chance = _chances(capture, fault, step, index, numerator, draft)
    tested = draft
    if fault == "m8":
        tested = np.where(draft >= THRESHOLD, draft, 0.0)
    accepted = tested * chance
    residual = target if fault == "m1" else np.maximum(target - draft, 0.0)
    rejected = tested.sum() - accepted.sum()
    total = residual.sum()
    out = accepted + (rejected * residual / total if total > 0.0 else 0.0)
    return np.asarray(out + (1.0 - tested.sum()) * target if fault == "m8" else out)


def _chances(
    capture: Captured,
    fault: str,
    step: dict[str, Any],
    index: int,
    target: Array,
    draft: Array,
) -> Array:
    with np.errstate(divide="ignore", invalid="ignore"):
        if fault == "m7":
            quotient = target.astype(np.float16) / draft.astype(np.float16)
            points = np.ceil(np.minimum(quotient.astype(np.float64), 1.0) * GRID)
            return np.where(draft > 0.0, points / GRID, 0.0)
        ratio = np.where(draft > 0.0, target / draft, 0.0)
    smallest = 1.0
    for earlier in range(index) if fault == "m10" else ():
        token = step["drafted"][earlier]
        above = capture.law("target", step["target_rows"][earlier])[token]
        below = capture.law("draft", step["draft_rows"][earlier])[token]
        smallest = min(smallest, above / below)
    return np.minimum(ratio / smallest, 1.0)


def variation(out: Array, reference: Array) -> float:
    """Half the sum of absolute differences; what is missing of the law counts nowhere else."""
    return float(np.abs(out - reference).sum() / 2)
