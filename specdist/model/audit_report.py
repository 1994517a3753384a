"""The report of an audit: the exact law of real code, held against the target's."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from specdist.model.figure import Figure
from specdist.model.finding import Finding
from specdist.model.verdict import Verdict

Tokens = tuple[int, ...]


class Mode(StrEnum):
    """How the law was found. ``traced`` walks every branch and is exact; ``probe`` feeds numbers
    and bisects, and its law is known within a bound only."""

    TRACED = "traced"
    PROBE = "probe"


@dataclass(frozen=True, slots=True)
class SequenceLine:
    """One output sequence: its probability under the audited code and under the target alone."""

    tokens: Tokens
    output: Figure
    reference: Figure
    difference: Figure


@dataclass(frozen=True, slots=True)
class Raised:
    """An exception of the audited code: its text and place, and the probability of it."""

    error: str
    place: str
    mass: Figure


@dataclass(frozen=True, slots=True)
class DraftLine:
    """A draft position: the law that tokens were really drawn from, against the draft row that was
    handed to the test."""

    prefix: Tokens
    handed: tuple[Figure, ...]
    drawn: tuple[Figure, ...]
    total_variation: Figure


@dataclass(frozen=True, slots=True)
class TableResult:
    """One table. ``length`` is how many tokens the joint law has; ``first_variation`` is the total
    variation of the first token; ``lines`` are the sequences that differ most, the largest first;
    ``outside`` is the mass on sequences of target probability 0, whatever its size; ``bound`` is
    what a probe may have missed; ``unexplored`` the mass that a budget left, the total variation
    being the least possible then; ``resembles`` names the known wrong rules with this very law."""

    name: str
    verdict: Verdict
    length: int
    total_variation: Figure
    first_variation: Figure
    outside: Figure
    leaves: int
    lines: tuple[SequenceLine, ...]
    sequences: int
    raised: tuple[Raised, ...] = ()
    draft: DraftLine | None = None
    bound: Figure | None = None
    unexplored: Figure | None = None
    resembles: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Smallest:
    """The smallest vocabulary, draft length and number of steps that show a difference."""

    vocab: int
    gamma: int
    steps: int
    table: str
    target: tuple[Figure, ...]
    drafted: tuple[Figure, ...]
    total_variation: Figure


@dataclass(frozen=True, slots=True)
class AuditReport:
    """A whole audit. ``source`` is ``FILE.py:NAME``; ``grids`` are the grids of uniforms that were
    met; ``predicted`` is the number of leaves that the formula says, ``runs`` how often the code
    was run; ``versions`` are those of the programs involved; ``line`` is where the audited function
    begins, 0 where nobody knows."""

    version: str
    source: str
    mode: Mode
    verdict: Verdict
    settings: Mapping[str, object]
    tables: tuple[TableResult, ...]
    findings: tuple[Finding, ...]
    predicted: int
    runs: int
    replays: int
    grids: tuple[str, ...] = ()
    smallest: Smallest | None = None
    notes: tuple[str, ...] = ()
    versions: Mapping[str, str] = field(default_factory=dict)
    scope: tuple[str, ...] = ()
    raised: tuple[str, ...] = ()
    line: int = 0
