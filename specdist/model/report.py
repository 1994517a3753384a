"""The report: everything a renderer prints, already computed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from specdist.model.capture import Unreadable
from specdist.model.figure import Figure
from specdist.model.finding import Finding
from specdist.model.verdict import Verdict

if TYPE_CHECKING:
    from specdist.exact.interval import Interval
    from specdist.model.baseline import BaselineReport
    from specdist.model.counters import CounterReport
    from specdist.model.joint_report import CostLine, JointResult, PathResult
    from specdist.model.partial_report import BoundedBonus, BoundedPosition


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
    """How one role was filled: recipe text or "row", and how many tokens it makes possible (None:
    nothing bounds them)."""

    role: str
    side: str
    recipe: str
    support: int | None


@dataclass(frozen=True, slots=True)
class UsedTarget:
    """The output against the target that the test used, where that is not the reference."""

    verdict: Verdict
    total_variation: Figure


@dataclass(frozen=True, slots=True)
class LossyFigures:
    """A rule that is lossy by design, against the best that is possible.

    ``least_total_variation``: ``max(0, TV(target, draft) - rejected)``, the least that any rule
    with this rejected mass can reach; ``excess`` is what the rule loses beyond it;
    ``acceptance_if_targeted``: what token verification of this output law would accept.
    """

    least_total_variation: Figure
    excess: Figure
    acceptance_if_targeted: Figure


@dataclass(frozen=True, slots=True)
class Correction:
    """The keep rule made lossless: test and residual use the law of what reaches the test."""

    acceptance_rate: Figure
    total_variation: Figure
    options: str


@dataclass(frozen=True, slots=True)
class ProposalFigures:
    """Draft tokens that are kept: their mass K, the share of the tested ones that is accepted, and
    the token whose keep probability differs most from K in mass (None: the same for all)."""

    reaching_mass: Figure
    accepted_of_reaching: Figure | None
    witness: int | None
    witness_keep: Figure | None
    correction: Correction | None = None


@dataclass(frozen=True, slots=True)
class SeveralDrafts:
    """The most that any lossless rule accepts of ``count`` draft tokens at one position, drawn as
    ``siblings`` says; None where no formula covers them."""

    count: int
    siblings: str
    optimum: Figure | None


@dataclass(frozen=True, slots=True)
class PositionResult:
    """One drafted position. ``index`` counts from 0 within the step. ``forbidden_mass`` is what the
    output puts on tokens of reference 0, ``several`` what more draft tokens here could reach."""

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
    forbidden_mass: Figure | None = None
    used_target: UsedTarget | None = None
    lossy: LossyFigures | None = None
    proposal: ProposalFigures | None = None
    several: SeveralDrafts | None = None


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
    """One step, finished. ``source`` is file and place; ``options`` are the options of numeric
    model and proposal that were in force, as they are written. ``bounded`` holds the positions
    whose rows are known in part, and ``bounded_bonus`` such a bonus row: ``positions`` and
    ``bonus`` are without them; ``length_bounds`` is then the mean acceptance length of one
    position. ``joint`` holds the figures of a step over conditional models,
    ``path`` those of a captured block under block verification, ``cost`` what follows for speed
    from the costs that were given or the times of the capture."""

    id: str
    source: str
    rule: str
    verdict: Verdict
    positions: tuple[PositionResult, ...]
    mean_acceptance_length: Figure | None
    bonus: BonusResult | None
    findings: tuple[Finding, ...]
    options: Mapping[str, str] = field(default_factory=dict)
    joint: JointResult | None = None
    path: PathResult | None = None
    cost: tuple[CostLine, ...] = ()
    bounded: tuple[BoundedPosition, ...] = ()
    bounded_bonus: BoundedBonus | None = None
    length_bounds: Interval | None = None


@dataclass(frozen=True, slots=True)
class Summary:
    """Counts over all steps, and the plain mean of the acceptance rates over positions;
    ``drafts_optimum`` is the mean of the best that several drafts a position could reach.

    Where rows are known in part the mean and the largest total variation are intervals,
    ``acceptance_bounds`` and ``variation_bounds``, and the two figures are None."""

    steps: int
    positions: int
    equal: int
    within_tolerance: int
    different: int
    undecided: int
    allowed: int
    acceptance_rate: Figure | None
    total_variation_max: Figure | None
    drafts_optimum: Figure | None = None
    acceptance_bounds: Interval | None = None
    variation_bounds: Interval | None = None


@dataclass(frozen=True, slots=True)
class Report:
    """The whole run. ``settings`` are the effective values as texts, with their origins;
    ``read_as`` says, a line a capture, what was guessed about its rows; ``in_force`` what a preset
    made of the roles, and what was assumed about options; ``raised`` are the idents that were met
    and that the user's severities make an error."""

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
    in_force: tuple[str, ...] = ()
    counters: tuple[CounterReport, ...] = ()
    baseline: BaselineReport | None = None
    raised: tuple[str, ...] = ()
