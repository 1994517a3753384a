"""The accept test in a narrow float format."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from specdist.model.row import NumberFormat
from specdist.verify.replay.engine_model import EngineModel

FORMATS = (NumberFormat.FLOAT32, NumberFormat.FLOAT16, NumberFormat.BFLOAT16)


def arithmetic_faults(declared: EngineModel) -> Iterator[EngineModel]:
    """Target, tested probability and their quotient rounded to each narrow format."""
    for numbers in FORMATS:
        yield replace(
            declared,
            name=f"accept test in {numbers.value}",
            ident="numeric-rounding",
            statement=f"the accept test is computed in {numbers.value}",
            arithmetic=numbers,
            rank=2,
        )
