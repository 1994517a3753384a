"""A progress bar for long runs: on a terminal only, and only after one second."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from specdist.model.capture import Capture, Unreadable

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

_PATIENCE = 1.0


class Meter:
    """Counts finished steps, and draws a bar on stderr once the run takes longer than a second.
    ``doing`` and ``unit`` are the words of the bar."""

    def __init__(self, wanted: bool, doing: str = "checking", unit: str = "steps") -> None:
        self._doing, self._unit = doing, unit
        self._wanted = wanted and sys.stderr.isatty()
        self._started = time.monotonic()
        self._total: int | None = 0
        self._done = 0
        self._bar: Progress | None = None
        self._task: TaskID | None = None

    def __enter__(self) -> Meter:
        return self

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._bar.stop()

    def watch(self, captures: Iterable[Capture | Unreadable]) -> Iterator[Capture | Unreadable]:
        """Passes captures through and adds up how many steps they announce."""
        for capture in captures:
            if isinstance(capture, Capture):
                known = self._total is not None and capture.step_count is not None
                self._total = self._total + capture.step_count if known else None  # type: ignore[operator]
            yield capture

    def expect(self, total: int | None) -> None:
        """Says how many steps there are going to be; None where only reading tells."""
        self._total = total

    def step(self, count: int = 1) -> None:
        """One more step is finished, or several."""
        self._done += count
        if not self._wanted or time.monotonic() - self._started < _PATIENCE:
            return
        if self._bar is None:
            self._start()
        if self._bar is not None and self._task is not None:
            self._bar.update(self._task, completed=self._done, total=self._total)

    def _start(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TimeRemainingColumn

        counted = (MofNCompleteColumn(), self._unit)
        columns = (self._doing, BarColumn(), *counted, TimeRemainingColumn())
        self._bar = Progress(*columns, console=Console(stderr=True), transient=True)
        self._task = self._bar.add_task(self._doing, total=self._total)
        self._bar.start()
