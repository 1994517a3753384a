"""What a check of a replay counts, and the shape that all checks have."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Protocol

from specdist.exact.interval import Interval
from specdist.model.replay_report import CheckCount, Event, ReplayFinding, What
from specdist.model.trace import TraceStep
from specdist.verify.replay.step_laws import StepLaws

EVENTS_KEPT = 1000
"""Events of one check that a report lists; all of them are counted."""


@dataclass(slots=True)
class Tally:
    """Counts and events of one check."""

    name: str
    agreed: int = 0
    differed: int = 0
    undecided: int = 0
    unchecked: dict[str, int] = field(default_factory=dict)
    events: list[Event] = field(default_factory=list)

    def take(self, answer: bool | None, event: Event | None = None) -> None:
        """One more answer: True it agrees, False it differs, None it is within rounding."""
        if answer is None:
            self.undecided += 1
        elif answer:
            self.agreed += 1
        else:
            self.differed += 1
            if event is not None and len(self.events) < EVENTS_KEPT:
                self.events.append(event)

    def skip(self, reason: str, count: int = 1) -> None:
        """What cannot be looked at, and why."""
        if count:
            self.unchecked[reason] = self.unchecked.get(reason, 0) + count

    def withdraw(self, reason: str) -> None:
        """Everything that was decided turns out not to be decidable."""
        self.skip(reason, self.agreed + self.differed + self.undecided)
        self.agreed = self.differed = self.undecided = 0
        self.events.clear()

    def absorb(self, other: Tally) -> None:
        """Adds what another tally holds."""
        self.agreed += other.agreed
        self.differed += other.differed
        self.undecided += other.undecided
        self.events += other.events
        for reason, count in other.unchecked.items():
            self.skip(reason, count)

    def count(self) -> CheckCount:
        """The counts for the report."""
        return CheckCount(
            self.name, self.agreed, self.differed, self.undecided, dict(self.unchecked)
        )


class Check(Protocol):
    """One check of a replay: it is shown every step in order, then asked what it found."""

    def add(self, laws: StepLaws) -> None:
        """Looks at one step. Raises SpecdistError for rows and settings that do not fit."""

    def counts(self) -> Iterator[CheckCount]:
        """How much was looked at."""

    def findings(self) -> Iterator[ReplayFinding]:
        """What contradicts the rule."""


def event(
    step: TraceStep,
    what: What,
    position: int | None,
    token: int | None,
    recorded: str,
    possible: str,
    interval: Interval | None = None,
) -> Event:
    """An event of a step."""
    place = step.id, step.source, step.sequence, step.index
    return Event(*place, position, what, token, recorded, possible, interval)
