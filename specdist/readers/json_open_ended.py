"""Rows known in part in a capture that does not say how large its vocabulary is."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from specdist.readers.json_listed import smallest_size
from specdist.readers.json_positions import StepReading
from specdist.readers.json_rows import size_of

_MAPPED = "draft_map"


def opened(step: dict[str, Any], reading: StepReading) -> StepReading:
    """How the rows of a step are read: with the size of its arrays, or open-ended with the smallest
    that its rows name, where some are known in part and nothing else says a size."""
    own_ids = reading.draft_vocab is not None or reading.draft_map is not None or _MAPPED in step
    if reading.size is not None or own_ids:
        return reading
    values = list(_values(step))
    arrays = {size for value in values if (size := size_of(value)) is not None}
    smallest = smallest_size(values)
    if smallest is None or any(_MAPPED in item for item in _items(step)):
        return reading
    if arrays:
        return replace(reading, size=max(arrays))
    draft = reading.draft_rows
    return replace(
        reading,
        size=smallest,
        rows=replace(reading.rows, open_ended=True),
        draft_rows=None if draft is None else replace(draft, open_ended=True),
    )


def _items(step: dict[str, Any]) -> list[dict[str, Any]]:
    """The positions of a step in the long form, or the step itself in the short one."""
    items = step.get("positions")
    return [x for x in items if isinstance(x, dict)] if isinstance(items, list) else [step]


def _values(step: dict[str, Any]) -> Iterator[object]:
    """Everything that is a row, if the step is well formed."""
    bonus = step.get("bonus")
    is_member = isinstance(bonus, dict) and set(bonus) == {"target"}
    yield bonus["target"] if isinstance(bonus, dict) and is_member else bonus
    for part in (step, *_items(step)):
        yield from (part[side] for side in ("target", "draft") if side in part)
        roles = part.get("roles")
        yield from roles.values() if isinstance(roles, dict) else ()
        drafted = part.get("draft_tokens", part.get("draft_token"))
        for token in drafted if isinstance(drafted, list) else [drafted]:
            yield {"one_hot": token}
