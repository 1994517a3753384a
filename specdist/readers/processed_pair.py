"""Whether one tensor of an archive is another one after processing: its temperature and its cut.

Engines divide raw logits z by a temperature and set the tokens that they drop to minus infinity, so
the processed values s of kept tokens are z / T to the last bit, in the arithmetic of the engine:

    s = fl(z / T)        division in float32 (transformers 5.24 on a CPU), or
    s = fl(z fl(1 / T))  the product with the reciprocal (the same on a GPU).

One T that does this for every kept token of the rows looked at proves the processing. Dropped
tokens are compared with the kept ones of their row: the numbers of kept tokens, the mass that is
kept, and the quotient of probabilities at the cut say which of top-k, top-p and min-p made it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Single = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Processed:
    """``temperature`` is the shortest decimal of the divisor. ``kept`` counts the tokens of each
    row; ``lowest``: the dropped tokens are those with the lowest logits. ``top_p`` is above the
    first and at most the second number, ``min_p`` above the first and at most the second, where
    that filter can have made the cut; rounded."""

    temperature: str
    kept: tuple[int, ...]
    size: int
    lowest: bool
    top_p: tuple[float, float] | None
    min_p: tuple[float, float] | None

    def text(self) -> str:
        """What was done, in words."""
        least, most = min(self.kept), max(self.kept)
        said = f"divided by {self.temperature} to the last bit"
        if least == self.size:
            return f"{said}; nothing is dropped"
        count = str(most) if least == most else f"{least} to {most}"
        said += f"; {count} of {self.size} tokens are kept"
        if not self.lowest:
            return f"{said}, and not those with the largest logits: a mask, or typical sampling"
        ways = [f"top-k {most}"] if least == most and len(self.kept) > 1 else []
        ways += [
            f"{name} from {span[0]:.4g} to {span[1]:.4g}"
            for name, span in (("top-p", self.top_p), ("min-p", self.min_p))
            if span is not None
        ]
        return f"{said}, as {' or '.join(ways)} would keep them" if ways else said


def processed_from(raw: Sequence[Single], done: Sequence[Single]) -> Processed | None:
    """How rows ``done`` come from rows ``raw`` [V] of the same positions, where one temperature
    does it to the last bit; None otherwise."""
    kept = [~np.isneginf(row) for row in done]
    pairs = list(zip(kept, raw, strict=True))
    if not pairs or any(not mask.any() or np.isneginf(z[mask]).any() for mask, z in pairs):
        return None
    before = np.concatenate([z[mask] for mask, z in pairs])
    after = np.concatenate([s[mask] for mask, s in zip(kept, done, strict=True)])
    divisor = _divisor(before, after)
    if divisor is None:
        return None
    cuts = [_Cut.of(z.astype(np.float64) / float(divisor), mask) for mask, z in pairs]
    dropping = [cut for cut in cuts if cut is not None]
    return Processed(
        temperature=str(divisor),
        kept=tuple(int(mask.sum()) for mask in kept),
        size=len(raw[0]),
        lowest=all(cut.lowest for cut in dropping),
        top_p=_common([cut.top_p for cut in dropping]),
        min_p=_common([cut.min_p for cut in dropping]),
    )


def _divisor(before: Single, after: Single) -> np.float32 | None:
    """The float32 T with after = before / T, or with the product of its reciprocal."""
    usable = np.abs(after) > 1e-3
    if not usable.any() or np.any(before[usable] / after[usable] <= 0):
        return None
    best = np.abs(after) == np.abs(after[usable]).max()
    guess = np.float32(before[best][0] / after[best][0])
    for step in range(-4, 5):
        # The neighbours of the quotient, which is itself rounded.
        divisor = np.int32(guess.view(np.int32) + step).view(np.float32)
        for result in (before / divisor, before * (np.float32(1) / divisor)):
            if np.array_equal(result, after):
                return _shortest(divisor, before, after)
    return None


def _shortest(divisor: np.float32, before: Single, after: Single) -> np.float32:
    """The neighbour of ``divisor`` with the shortest text that gives the same numbers."""
    bits = int(divisor.view(np.int32))
    near = [np.int32(bits + step).view(np.float32) for step in range(-4, 5)]
    fitting = [
        value
        for value in near
        if np.array_equal(before / value, after)
        or np.array_equal(before * (np.float32(1) / value), after)
    ]
    return min(fitting, key=lambda value: (len(str(value)), abs(value - divisor)))


@dataclass(frozen=True, slots=True)
class _Cut:
    """Where one row was cut. The spans are what top-p and min-p must lie in."""

    lowest: bool
    top_p: tuple[float, float]
    min_p: tuple[float, float]

    @classmethod
    def of(cls, logits: Floats, kept: NDArray[np.bool_]) -> _Cut | None:
        """The cut of a row of tempered logits; None where nothing is dropped."""
        if kept.all():
            return None
        weights = np.exp(logits - logits.max())
        law = weights / weights.sum()
        smallest, largest = float(law[kept].min()), float(law[~kept].max())
        mass = float(law[kept].sum())
        top = float(law.max())
        return cls(
            lowest=bool(logits[kept].min() >= logits[~kept].max()),
            top_p=(mass - smallest, mass),
            min_p=(largest / top, smallest / top),
        )


def _common(spans: list[tuple[float, float]]) -> tuple[float, float] | None:
    if not spans:
        return None
    low, high = max(low for low, _ in spans), min(high for _, high in spans)
    return (low, high) if low < high else None
