"""The common shape of a report that CI formats translate: cases, their findings, the outcome.

A case is what a CI system counts: a step of a check, a kind of check of a replay, or a table of an
audit. Everything
here is taken from the report; no number is computed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

from specdist.exact.interval import Interval
from specdist.model.capture import Unreadable
from specdist.model.figure import Figure
from specdist.model.finding import Finding
from specdist.model.outcome import Outcome

Figures = tuple[tuple[str, Figure | Interval], ...]


@dataclass(frozen=True, slots=True)
class Told:
    """A finding with its place. ``source`` is the capture as it was named, ``case`` the id of the
    case it belongs to (empty: the run); ``tell`` makes the text that a terminal shows, for few of
    many are ever shown; ``fails`` tells whether it makes the run fail; ``size`` orders findings,
    the largest difference first."""

    finding: Finding
    source: str
    case: str
    place: str
    tell: Callable[[], str]
    fails: bool
    size: float = 0.0


@dataclass(frozen=True, slots=True)
class Case:
    """One case. ``place`` is file and place within it; ``figures`` are named numbers."""

    id: str
    source: str
    place: str
    verdict: str
    outcome: Outcome
    findings: tuple[Told, ...] = ()
    figures: tuple[tuple[str, Figure | Interval], ...] = ()


@dataclass(frozen=True, slots=True)
class Outline:
    """A whole run. ``findings`` are those of the run itself, ``headline`` its last line,
    ``facts`` what was read and assumed, ``against`` the comparison with a baseline, in lines."""

    command: str
    version: str
    verdict: str
    outcome: Outcome
    headline: str
    cases: tuple[Case, ...]
    findings: tuple[Told, ...]
    unreadable: tuple[Unreadable, ...] = ()
    not_captures: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()
    figures: tuple[tuple[str, Figure | Interval], ...] = ()
    facts: tuple[str, ...] = ()
    against: tuple[str, ...] = ()
    scope: tuple[str, ...] = ()
    settings: Mapping[str, object] = field(default_factory=dict)

    def told(self) -> Iterator[Told]:
        """Every finding, those of the run first."""
        yield from self.findings
        for case in self.cases:
            yield from case.findings

    @property
    def passed(self) -> bool:
        """Whether the run is a pass: exit code 0."""
        return self.outcome is Outcome.PASSED


def file_of(source: str) -> str:
    """The file that a source names: of a pair of dumps the target's; empty where it is none."""
    first = source.split(" + ")[0].partition("::")[0]
    return "" if first in ("", "<stdin>", "command line", "python") else first
