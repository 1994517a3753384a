"""One vocabulary for all rows of a step: rows of an open-ended one take the size of the others."""

from __future__ import annotations

from dataclasses import replace

from specdist.errors import CaptureError
from specdist.model.capture import Position, Step
from specdist.model.role import Role
from specdist.model.row import ListedValues, PointMass, Row


def with_one_size(step: Step) -> Step:
    """The step with every open-ended row over the vocabulary of its other rows; where all are
    open-ended, over the smallest that has all their tokens. A draft with ids of its own stays as
    it is. Raises CaptureError for a token beyond that vocabulary."""
    rows = _rows(step)
    if not any(map(_is_open, rows)):
        return step
    closed = {row.size for row in rows if not _is_open(row) and not _is_point(row)}
    size = max(closed, default=max(row.size for row in rows))
    is_open = not closed

    def grown(row: Row) -> Row:
        return _grown(row, size, is_open)

    return replace(
        step,
        positions=tuple(_in_position(position, size, is_open) for position in step.positions),
        bonus=None if step.bonus is None else grown(step.bonus),
        bonus_from=grown(step.bonus_from) if isinstance(step.bonus_from, Row) else step.bonus_from,
    )


def _rows(step: Step) -> list[Row]:
    """The rows over target ids."""
    rows = [row for row in (step.bonus, step.bonus_from) if isinstance(row, Row)]
    for position in step.positions:
        own = [row for row in position.roles.values() if isinstance(row, Row)]
        draft = [position.draft] if position.draft_map is None else []
        rows += [position.target, *draft, *own]
    return rows


def _in_position(position: Position, size: int, is_open: bool) -> Position:
    roles: dict[Role, str | Row] = {
        role: _grown(entry, size, is_open) if isinstance(entry, Row) else entry
        for role, entry in position.roles.items()
    }
    draft = position.draft
    if position.draft_map is None:
        draft = _grown(draft, size, is_open)
    target = _grown(position.target, size, is_open)
    return replace(position, target=target, draft=draft, roles=roles)


def _grown(row: Row, size: int, is_open: bool) -> Row:
    values = row.values
    if isinstance(values, PointMass) and is_open:
        return replace(row, values=replace(values, size=size))
    if not isinstance(values, ListedValues) or not values.open_ended:
        return row
    if values.size > size:
        raise CaptureError(
            f"token {values.size - 1} is listed, the vocabulary has {size} tokens",
            place=row.place,
            expected="rows over one vocabulary",
        )
    return replace(row, values=replace(values, size=size, open_ended=is_open))


def _is_open(row: Row) -> bool:
    return isinstance(row.values, ListedValues) and row.values.open_ended


def _is_point(row: Row) -> bool:
    return isinstance(row.values, PointMass)
