"""Spreads steps over an executor without changing order or digits.

Rows are independent and exact sums do not depend on order, so it does not matter where a step is
verified. Only a bounded window of batches is in flight, so that memory does not grow with the dump.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from time import monotonic
from typing import TYPE_CHECKING

from specdist.errors import SettingsError
from specdist.model.capture import Step
from specdist.model.report import StepResult
from specdist.model.row import FloatValues, ListedValues, Row
from specdist.model.settings import CheckSettings
from specdist.verify.capture_fault import capture_fault
from specdist.verify.plan import Plans
from specdist.verify.step import verify_step
from specdist.verify.step_costs import with_costs
from specdist.verify.worker_pool import interrupts_held, worker_pool

if TYPE_CHECKING:
    from concurrent.futures import Executor, Future

    Window = deque[Future[list[StepResult]]]
    """Batches in flight, oldest first."""

_BATCH_BYTES = 8 << 20
_ROW_OVERHEAD = 4_096
_ALONE_SECONDS = 1.5


def verify_all(
    steps: Iterable[Step],
    settings: CheckSettings,
    workers: int,
    executor: Executor | None = None,
) -> Iterator[StepResult]:
    """Results of all steps, in order. With one worker, or while the run is short, in this
    process; else in ``executor`` (default: a process pool of that many workers). Raises
    SpecdistError for bad rows and settings, and for a worker that was killed."""
    remaining = iter(steps)
    known = Plans(settings)
    if workers <= 1 and executor is None:
        yield from (_verified(step, settings, known) for step in remaining)
        return
    if executor is None:
        started = monotonic()
        for step in remaining:
            yield _verified(step, settings, known)
            if monotonic() - started > _ALONE_SECONDS:
                break
        else:
            return
        with worker_pool(workers) as pool:
            yield from _windowed(remaining, settings, pool, workers, deque())
        return
    window: Window = deque()
    try:
        yield from _windowed(remaining, settings, executor, workers, window)
    finally:
        for future in window:
            future.cancel()


def verify_batch(steps: tuple[Step, ...], settings: CheckSettings) -> list[StepResult]:
    """What one task of the executor does."""
    known = Plans(settings)
    return [_verified(step, settings, known) for step in steps]


def _verified(step: Step, settings: CheckSettings, known: Plans) -> StepResult:
    try:
        return with_costs(verify_step(step, settings, known), step, settings)
    except SettingsError as error:
        fault = capture_fault(step, settings, error)
        if fault is None:
            error.at(step.source)
            raise
        raise fault from error.__cause__


def _windowed(
    steps: Iterator[Step],
    settings: CheckSettings,
    executor: Executor,
    workers: int,
    window: Window,
) -> Iterator[StepResult]:
    for batch in _batches(steps):
        with interrupts_held():
            window.append(executor.submit(verify_batch, batch, settings))
        if len(window) > workers + 1:
            yield from window.popleft().result()
    while window:
        yield from window.popleft().result()


def _batches(steps: Iterator[Step]) -> Iterator[tuple[Step, ...]]:
    batch: list[Step] = []
    size = 0
    for step in steps:
        batch.append(step)
        size += step_bytes(step)
        if size >= _BATCH_BYTES:
            yield tuple(batch)
            batch, size = [], 0
    if batch:
        yield tuple(batch)


def step_bytes(step: Step) -> int:
    """About what the rows of a step take in memory."""
    rows: list[Row] = [row for p in step.positions for row in (p.target, p.draft)]
    rows += [step.bonus] if step.bonus is not None else []
    return sum(_bytes(row) for row in rows) + len(rows) * _ROW_OVERHEAD


def _bytes(row: Row) -> int:
    """What the arrays of a row take."""
    values = row.values
    if isinstance(values, ListedValues):
        listed = values.values
        ids = 0 if isinstance(values.ids, tuple) else values.ids.nbytes
        return ids + (listed.array.nbytes if isinstance(listed, FloatValues) else 0)
    return values.array.nbytes if isinstance(values, FloatValues) else 0
