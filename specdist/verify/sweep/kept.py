"""Captures that are read once for many settings: kept in memory up to a bound."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase

from specdist.errors import SpecdistError
from specdist.model.capture import Capture, Step, Unreadable
from specdist.model.row import RationalValues
from specdist.model.settings import ReadingSettings
from specdist.verify.spread import step_bytes

KEPT_BYTES = 256 << 20
"""Rows that are kept for all captures of a sweep together; beyond that they are read again for
every setting, in bounded blocks."""
_FRACTION_BYTES = 160


@dataclass(frozen=True, slots=True)
class KeptSteps:
    """A `StepSource` of steps that are in memory, and that another process can be given."""

    steps: tuple[Step, ...]

    def __call__(self) -> Iterator[Step]:
        return iter(self.steps)


@dataclass(frozen=True, slots=True)
class Kept:
    """``captures`` as a sweep reads them again and again; ``size`` is what their rows take, None
    where not all of them are in memory; ``steps`` how many there are, None where only reading
    tells."""

    captures: tuple[Capture | Unreadable, ...]
    size: int | None
    steps: int | None


def kept(
    captures: Iterable[Capture | Unreadable], reading: ReadingSettings, most: int = KEPT_BYTES
) -> Kept:
    """Reads captures into memory while their rows fit ``most`` bytes. A capture that turns out
    malformed is left as it was: the check says so."""
    found: list[Capture | Unreadable] = []
    size = 0
    whole = True
    for capture in captures:
        steps = None if isinstance(capture, Unreadable) else _steps(capture, reading, most - size)
        if isinstance(capture, Unreadable) or steps is None:
            whole = whole and isinstance(capture, Unreadable)
            found.append(capture)
            continue
        size += sum(_size(step) for step in steps)
        found.append(replace(capture, steps=KeptSteps(steps), step_count=len(steps)))
    counts = [item.step_count for item in found if isinstance(item, Capture)]
    known = [count for count in counts if count is not None]
    total = sum(known) if len(known) == len(counts) else None
    return Kept(tuple(found), size if whole else None, total)


def _steps(capture: Capture, reading: ReadingSettings, most: int) -> tuple[Step, ...] | None:
    """All steps that the run may select; None where they take more than ``most`` bytes."""
    steps: list[Step] = []
    size = selected = 0
    try:
        for step in capture.steps():
            steps.append(step)
            size += _size(step)
            if size > most:
                return None
            selected += reading.select is None or fnmatchcase(step.id, reading.select)
            if reading.limit is not None and selected >= reading.limit:
                break
    except SpecdistError:
        return None
    return tuple(steps)


def _size(step: Step) -> int:
    """About what a step takes in memory, its hand-written numbers included."""
    rows = [row for p in step.positions for row in (p.target, p.draft)]
    numbers = sum(len(row.values) for row in rows if isinstance(row.values, RationalValues))
    return step_bytes(step) + _FRACTION_BYTES * numbers
