"""The report: everything a renderer prints, already computed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from specdist.model.capture import Unreadable
from specdist.model.figure import Figure
from specdist.model.finding import Finding
from specdist.model.verdict import Verdict


@dataclass(frozen=True, slots=True)
class TokenLine:
    """The masses of one token at one position. ``residual`` is None when it is unreachable."""

    id: int
    text: str | None
    reference: Figure
    drafted: Figure
    tested: Figure
    accepted: Figure
    residual: Figure | None
    recovered: Figure
    output: Figure
    difference: Figure


@dataclass(frozen=True, slots=True)
class RoleUse:
    """How one role was filled: recipe text or "row", and how many tokens it makes possible."""

    role: str
    side: str
    recipe: str
    support: int


@dataclass(frozen=True, slots=True)
class PositionResult:
    """One drafted position. ``index`` counts from 0 within the step."""

    index: int
    verdict: Verdict
    vocab_size: int
    acceptance_rate: Figure
    reference_acceptance_rate: Figure
    rejected_mass: Figure
    recovered_mass: Figure
    total_variation: Figure
    tokens: tuple[TokenLine, ...]
    roles: tuple[RoleUse, ...]
    symbolic_only: bool = False


@dataclass(frozen=True, slots=True)
class BonusToken:
    """One token of the bonus row: the reference law and the law the bonus is drawn from."""

    id: int
    text: str | None
    reference: Figure
    output: Figure
    difference: Figure


@dataclass(frozen=True, slots=True)
class BonusResult:
    """The bonus row of a block: the law of the token drawn after full acceptance."""

    verdict: Verdict
    vocab_size: int
    total_variation: Figure
    tokens: tuple[BonusToken, ...]
    roles: tuple[RoleUse, ...]


@dataclass(frozen=True, slots=True)
class StepResult:
    """One step, finished. ``source`` is file and place."""

    id: str
    source: str
    rule: str
    verdict: Verdict
    positions: tuple[PositionResult, ...]
    mean_acceptance_length: Figure | None
    bonus: BonusResult | None
    findings: tuple[Finding, ...]


@dataclass(frozen=True, slots=True)
class Summary:
    """Counts over all steps, and the plain mean of the acceptance rates over positions."""

    steps: int
    positions: int
    equal: int
    within_tolerance: int
    different: int
    undecided: int
    allowed: int
    acceptance_rate: Figure | None
    total_variation_max: Figure | None


@dataclass(frozen=True, slots=True)
class Report:
    """The whole run. ``settings`` are the effective values as texts, with their origins;
    ``read_as`` says, a line a capture, what was guessed about its rows."""

    version: str
    verdict: Verdict
    settings: Mapping[str, object]
    summary: Summary
    steps: tuple[StepResult, ...]
    findings: tuple[Finding, ...]
    unreadable: tuple[Unreadable, ...]
    not_captures: tuple[str, ...]
    scope: tuple[str, ...]
    filtered_out: int = 0
    floors_missed: tuple[str, ...] = ()
    sources: tuple[str, ...] = field(default_factory=tuple)
    read_as: tuple[str, ...] = ()
