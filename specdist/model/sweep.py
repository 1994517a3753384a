"""A sweep: the same rows checked under every setting of a grid of option values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING

from specdist.model.figure import Figure
from specdist.model.outcome import Outcome
from specdist.model.report import Summary
from specdist.model.verdict import Verdict

if TYPE_CHECKING:
    from specdist.exact.interval import Interval
    from specdist.model.capture import Unreadable
    from specdist.model.joint_report import CostLine
    from specdist.model.sweep_crossing import FloorAnswer


@dataclass(frozen=True, slots=True)
class Axis:
    """One swept option and its values, as they are written; ``numbers`` are the same values where
    all are exact numbers."""

    name: str
    values: tuple[str, ...]
    numbers: tuple[Fraction, ...] | None = None


@dataclass(frozen=True, slots=True)
class Worth:
    """What a setting is worth: tokens of a step, bonus token included (None: the rows do not
    determine them), the lines of its costs, the walltime factor among them, and the draft length of
    largest factor (0: decode without a draft; None: not known)."""

    expected_tokens: Figure | Interval | None = None
    cost: tuple[CostLine, ...] = ()
    walltime_factor: Figure | None = None
    best_draft_length: int | None = None


@dataclass(frozen=True, slots=True)
class SweepPoint:
    """One setting, checked. ``values`` are those of the axes, in their order; ``findings`` the
    idents that were found, each once."""

    values: tuple[str, ...]
    verdict: Verdict
    outcome: Outcome
    summary: Summary
    findings: tuple[str, ...] = ()
    floor_missed: bool = False
    worth: Worth = field(default_factory=Worth)


@dataclass(frozen=True, slots=True)
class VerdictCount:
    """How many settings have a verdict, and the index of the first of them."""

    verdict: Verdict
    settings: int
    first: int


@dataclass(frozen=True, slots=True)
class Best:
    """The setting of largest ``by`` among those whose output law is right: its index, and the
    indices of those that reach the same, as far as rounding bounds tell (``settled``: exactly)."""

    index: int
    by: str
    equals: tuple[int, ...] = ()
    settled: bool = True


@dataclass(frozen=True, slots=True)
class SweepReport:
    """A sweep, finished. The points follow one another as in a table whose last axis runs fastest.

    ``settings`` are those that every point shares; ``assumes`` says on what figures rest that the
    rows alone do not determine; ``reproduce`` is a command line for the first setting that differs.
    """

    version: str
    axes: tuple[Axis, ...]
    points: tuple[SweepPoint, ...]
    counts: tuple[VerdictCount, ...]
    best: Best | None
    settings: Mapping[str, object]
    sources: tuple[str, ...]
    scope: tuple[str, ...]
    assumes: tuple[str, ...] = ()
    read_as: tuple[str, ...] = ()
    unreadable: tuple[Unreadable, ...] = ()
    not_captures: tuple[str, ...] = ()
    floor: FloorAnswer | None = None
    reproduce: str = ""
