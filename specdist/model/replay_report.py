"""The report of a replay: what was checked, what contradicts the rule, what would explain it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from specdist.exact.interval import Interval
from specdist.model.counters import CounterFigure, Counters
from specdist.model.finding import Finding
from specdist.model.trace import FinalKind
from specdist.model.trace_evidence import Counterfactual, Evidence, Explanation


class What(StrEnum):
    """What was recorded and is judged."""

    ACCEPT = "accept decision"
    DRAFT = "draft draw"
    RECOVERED = "recovered token"
    BONUS = "bonus token"
    TESTED = "tested probability"
    CONTEXT = "context"
    UNIFORM = "uniform"
    EMITTED = "emitted token"


@dataclass(frozen=True, slots=True)
class Event:
    """One recorded thing at its place, with what would have been possible.

    ``id`` is that of the step. ``position`` is None for what concerns the whole step; the position
    of a final token is the number of accepted ones. ``recorded`` and ``possible`` are short texts
    for a table;
    ``interval`` is what was possible as numbers, where it is an interval.
    """

    id: str
    source: str
    sequence: int
    step: int
    position: int | None
    what: What
    token: int | None
    recorded: str
    possible: str
    interval: Interval | None = None


@dataclass(frozen=True, slots=True)
class ReplayFinding:
    """A finding about a trace, with every event behind it."""

    finding: Finding
    events: tuple[Event, ...] = ()


@dataclass(frozen=True, slots=True)
class CheckCount:
    """How much a check looked at: ``agreed`` and ``differed`` were decided, ``undecided`` lie
    within a rounding, ``unchecked`` could not be looked at, by reason."""

    name: str
    agreed: int
    differed: int = 0
    undecided: int = 0
    unchecked: Mapping[str, int] = field(default_factory=dict)

    @property
    def checked(self) -> int:
        """How many were decided either way."""
        return self.agreed + self.differed


class ReplayVerdict(StrEnum):
    """``consistent``: nothing that was checked contradicts the rule. It is no proof of it."""

    CONSISTENT = "consistent"
    CONTRADICTED = "contradicted"
    UNDECIDED = "undecided"
    NOTHING_CHECKED = "nothing-checked"


@dataclass(frozen=True, slots=True)
class StepLine:
    """A step in a few numbers, for a table of steps."""

    source: str
    sequence: int
    step: int
    drafted: int
    accepted: int
    emitted: int
    kind: FinalKind


@dataclass(frozen=True, slots=True)
class ReplayReport:
    """Everything a replay prints. ``facts`` say what was read and how, ``settings`` the options in
    force, ``roles`` the recipe of each role; ``texts`` are those of the tokens in events,
    ``raised`` the idents that were met and that the user's severities make an error."""

    version: str
    source: str
    reader: str
    facts: tuple[tuple[str, str], ...]
    settings: Mapping[str, object]
    roles: tuple[tuple[str, str], ...]
    verdict: ReplayVerdict
    steps: tuple[StepLine, ...]
    checks: tuple[CheckCount, ...]
    findings: tuple[ReplayFinding, ...]
    counters: Counters
    figures: tuple[CounterFigure, ...]
    reported: tuple[Counters, ...] = ()
    explanation: Explanation | None = None
    counterfactuals: tuple[Counterfactual, ...] = ()
    evidence: tuple[Evidence, ...] = ()
    scope: tuple[str, ...] = ()
    texts: Mapping[int, str] = field(default_factory=dict)
    raised: tuple[str, ...] = ()
