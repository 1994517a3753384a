"""Proposed tokens that were never submitted: which measure of the draft tells them apart."""

from __future__ import annotations

from fractions import Fraction

from specdist.verify.replay.engine_model import Pruning
from specdist.verify.replay.recorded_rows import RowLaw

_NEAR = Fraction(1, 2**40)


def measured(measure: str, law: RowLaw, token: int) -> Fraction:
    """The number that a pruning rule compares with its threshold; larger ones are kept."""
    if measure == "own-probability":
        return law.probability(token)
    _, shares = law.floats()
    if measure == "top-probability":
        return Fraction(float(shares.max()))
    if measure == "draft-entropy":
        import numpy as np

        positive = shares[shares > 0.0]
        return Fraction(float((positive * np.log(positive)).sum()))
    raise ValueError(f"no pruning rule measures {measure}")


def is_kept(pruning: Pruning, law: RowLaw, token: int) -> bool | None:
    """Whether the rule keeps the token; None within rounding of its threshold."""
    value = measured(pruning.measure, law, token)
    if abs(value - pruning.threshold) <= _NEAR * abs(pruning.threshold):
        return None
    return value >= pruning.threshold
