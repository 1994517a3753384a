"""What the rows of a step leave open: numbers that are not listed, a stage that is not stated."""

from __future__ import annotations

from specdist.model.capture import Position, Step
from specdist.model.row import ListedValues, Row, Stage


def is_known_in_part(step: Step) -> bool:
    """Whether a row of the step is known in part."""
    rows = [row for position in step.positions for row in rows_of(position)]
    rows += [row for row in (step.bonus, step.bonus_from) if isinstance(row, Row)]
    return any(isinstance(row.values, ListedValues) for row in rows)


def has_unknown_stage(step: Step) -> bool:
    """Whether a captured row of the step is of unknown stage."""
    rows = [row for position in step.positions for row in (position.target, position.draft)]
    rows += [] if step.bonus is None else [step.bonus]
    return any(row.stage is Stage.UNKNOWN for row in rows)


def rows_of(position: Position) -> list[Row]:
    """The captured rows of a position, those of roles included."""
    own = [row for row in position.roles.values() if isinstance(row, Row)]
    return [position.target, position.draft, *own]
