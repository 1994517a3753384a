"""Numbers by token that a capture brings along: they belong to the processed rows."""

from __future__ import annotations

from specdist.errors import RowError
from specdist.model.capture import Position


def check_token_rows(position: Position, size: int) -> None:
    """Refuses keep probabilities and rows of the rule `given` that do not have one number for each
    token of the processed rows (a recipe may cut or pad the rows as captured)."""
    for name, row in (("keep", position.keep), *position.given.items()):
        if row is not None and len(row) != size:
            raise RowError(
                f"{name} has {len(row)} numbers, the processed rows have {size} tokens",
                place=position.target.place,
                expected="one number a token of the processed rows",
                advice="a step vocab-size cuts or pads rows, not the numbers beside them",
            )
