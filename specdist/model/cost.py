"""What is said about cost: relative costs, a roofline, measured times. No verdict depends on it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from fractions import Fraction
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from specdist.model.joint_report import CostLine


@dataclass(frozen=True, slots=True)
class Roofline:
    """A device and what a forward pass of the model moves and computes on it.

    ``weights`` are the bytes of weights that a pass reads, ``kv`` the bytes of cache that it reads
    for each sequence, ``bandwidth`` bytes a second; ``flops`` the operations for one token,
    ``peak`` operations a second, ``overhead`` seconds a pass. ``batches`` are the numbers of
    sequences to look at. The ``draft_*`` numbers are those of the draft model on the same device;
    they are given together or not at all.
    """

    weights: Fraction
    bandwidth: Fraction
    flops: Fraction
    peak: Fraction
    kv: Fraction = Fraction(0)
    overhead: Fraction = Fraction(0)
    batches: tuple[int, ...] = (1,)
    draft_weights: Fraction | None = None
    draft_flops: Fraction | None = None
    draft_kv: Fraction = Fraction(0)
    draft_overhead: Fraction = Fraction(0)

    @property
    def has_draft(self) -> bool:
        """Whether the draft model has numbers of its own."""
        return self.draft_weights is not None


@dataclass(frozen=True, slots=True)
class CostSettings:
    """What the command line says of costs; None where it says nothing.

    ``draft_cost`` is one draft step over one target step of one token, ``verify_cost`` one
    verification over the same: one number, or one for each number of draft tokens from 1 on.
    ``draft_operations`` is one token of the draft over one token of the target. ``output_tokens``
    is the length of an output whose target calls are counted.
    """

    draft_cost: Fraction | None = None
    verify_cost: tuple[Fraction, ...] | None = None
    draft_operations: Fraction | None = None
    output_tokens: int | None = None
    roofline: Roofline | None = None

    @property
    def asked(self) -> bool:
        """Whether anything of it was given."""
        return self != CostSettings()


CONDITIONS = {
    "target_model": "target model",
    "draft_model": "draft model",
    "sampling": "sampling configuration",
    "load": "load shape",
    "hardware": "hardware",
}
"""What measured times must name, by key of the capture, and how it is said."""


class Basis(StrEnum):
    """What a figure of a benefit rests on."""

    CALCULATED = "calculated"
    MEASURED = "measured"
    UNMEASURED = "unmeasured"


@dataclass(frozen=True, slots=True)
class StepTimes:
    """Times that were measured, in ``unit``: one target step of one token, the drafting of all
    draft tokens of a step, and their verification. ``conditions`` are those of `CONDITIONS` that
    the capture names, by key."""

    target: Fraction
    draft: Fraction
    verify: Fraction
    unit: str
    conditions: Mapping[str, str] = field(default_factory=dict)

    @property
    def missing(self) -> tuple[str, ...]:
        """The keys of the conditions that are not named: without one of them nobody can tell what
        was measured."""
        return tuple(key for key in CONDITIONS if key not in self.conditions)


@dataclass(frozen=True, slots=True)
class CostReport:
    """Costs of acceptances that were stated, without rows. ``settings`` are the options as they
    were written."""

    version: str
    settings: Mapping[str, object]
    lines: tuple[CostLine, ...]
