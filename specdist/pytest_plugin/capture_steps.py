"""The steps of a capture one by one: read in order, verified when they are asked for."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from specdist.model.capture import Capture, Step
from specdist.model.report import Report
from specdist.model.settings import Settings
from specdist.verify.run import Run, check


@dataclass
class CaptureSteps:
    """A capture whose selected steps have the ids ``ids``. Steps are not kept: the capture is read
    once for the ids and once, step after step, while the items run in their order."""

    capture: Capture
    settings: Settings
    ids: tuple[str, ...]
    filtered_out: int = 0
    _steps: Iterator[Step] = field(default_factory=lambda: iter(()))
    _next: int = 0

    @classmethod
    def of(cls, capture: Capture, settings: Settings) -> CaptureSteps:
        """Reads the capture. Raises SpecdistError where it is broken or the settings do not fit."""
        run = _unstarted(settings)
        ids = tuple(step.id for step in run.selected(capture))
        return cls(capture, settings, ids, run.filtered_out)

    def names(self) -> list[str]:
        """The ids as names of items: printable, each once."""
        seen: Counter[str] = Counter()
        found = []
        for step_id in self.ids:
            name = "".join(c if c.isprintable() else ascii(c)[1:-1] for c in step_id) or "''"
            seen[name] += 1
            found.append(f"{name} #{seen[name]}" if seen[name] > 1 else name)
        return found

    def verified(self, index: int) -> Report:
        """The report of one step. Raises SpecdistError for rows that hold no distribution."""
        step = self._step(index)
        alone = replace(self.capture, steps=lambda: iter((step,)), step_count=1)
        settings = replace(
            self.settings,
            reading=replace(self.settings.reading, select=None, limit=None),
            checking=replace(self.settings.checking, min_acceptance=None, budget=None, workers=1),
        )
        run = check([alone], settings)
        for _ in run.results():
            pass
        return run.report()

    def _step(self, index: int) -> Step:
        if index < self._next:
            self._next = 0
        if not self._next:
            self._steps = _unstarted(self.settings).selected(self.capture)
        while self._next <= index:
            step = next(self._steps)
            self._next += 1
        return step


def _unstarted(settings: Settings) -> Run:
    return check([], settings)
