"""Many settings over the same captures, spread over processes that are started once.

Rows that are in memory are given to every worker once, and a task is a whole setting. Rows that are
not are read again for each setting, in this process, and its steps are spread.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from time import monotonic
from typing import TYPE_CHECKING

from specdist.errors import SpecdistError
from specdist.model.capture import Capture, Unreadable
from specdist.model.settings import Settings
from specdist.verify.sweep.checked import Checked, checked
from specdist.verify.sweep.kept import Kept
from specdist.verify.worker_pool import interrupts_held, worker_pool

if TYPE_CHECKING:
    from concurrent.futures import Executor, Future

Labelled = tuple[str, Settings]
StepDone = Callable[[int], None]
_ALONE_SECONDS = 1.5
_MOST_COPIES = 1 << 30
"""Bytes of rows that all workers hold together."""


def checked_all(
    kept: Kept, settings: Iterable[Labelled], workers: int, step_done: StepDone
) -> Iterator[Checked]:
    """Every setting checked, in order. Raises SpecdistError for a setting that does not fit, with
    its label as the place."""
    remaining = iter(settings)
    if kept.size is None:
        yield from _read_again(kept, remaining, workers, step_done)
        return
    workers = min(workers, max(1, _MOST_COPIES // max(1, kept.size)))
    started = monotonic()
    for label, one in remaining:
        with _at(label):
            yield checked(kept.captures, one, step_done=step_done)
        if workers > 1 and monotonic() - started > _ALONE_SECONDS:
            break
    else:
        return
    with worker_pool(workers, _begin, (kept.captures,)) as pool:
        yield from _windowed(remaining, pool, workers, step_done, kept.steps or 0)


def _read_again(
    kept: Kept, settings: Iterator[Labelled], workers: int, step_done: StepDone
) -> Iterator[Checked]:
    if workers <= 1:
        for label, one in settings:
            with _at(label):
                yield checked(kept.captures, one, step_done=step_done)
        return
    with worker_pool(workers) as pool:
        for label, one in settings:
            with _at(label):
                yield checked(kept.captures, one, executor=pool, step_done=step_done)


def _windowed(
    settings: Iterator[Labelled],
    executor: Executor,
    workers: int,
    step_done: StepDone,
    steps: int,
) -> Iterator[Checked]:
    """Two settings a worker are in flight, no more."""
    window: deque[tuple[str, Future[Checked]]] = deque()

    def first() -> Checked:
        label, future = window.popleft()
        with _at(label):
            result = future.result()
        step_done(steps)
        return result

    for label, one in settings:
        with interrupts_held():
            window.append((label, executor.submit(_task, one)))
        if len(window) > 2 * workers:
            yield first()
    while window:
        yield first()


class _at:  # noqa: N801 - reads as a word: with _at("temperature=1")
    """Puts the setting before the place of every error raised inside."""

    def __init__(self, label: str) -> None:
        self.label = label

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, SpecdistError):
            error.place = f"{self.label}: {error.place}" if error.place else self.label


_captures: Sequence[Capture | Unreadable] = ()
"""The captures of this worker process."""


def _begin(captures: Sequence[Capture | Unreadable]) -> None:
    global _captures
    _captures = captures


def _task(settings: Settings) -> Checked:
    return checked(_captures, settings)
