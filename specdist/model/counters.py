"""Acceptance counters: what an engine counted, what it says of it, and what follows.

Counts are the facts; every rate is one of the definitions of `Rate`, and is only comparable with
the same definition.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from fractions import Fraction

from specdist.model.finding import Finding


class Rate(StrEnum):
    """What a figure of acceptance is. Its text is the definition that is printed with it."""

    ACCEPTED_OF_DRAFTED = "accepted draft tokens / draft tokens"
    ACCEPTED_A_STEP = "accepted draft tokens / steps, bonus and recovered token not counted"
    EMITTED_A_STEP = "1 + accepted draft tokens / steps, bonus or recovered token counted"
    TOKENS_A_STEP = "written tokens / steps"
    FIRST_ACCEPTED = "steps with the first draft token accepted / steps"
    UNCONDITIONAL = "steps with at least i + 1 accepted / steps"
    CONDITIONAL = "steps with at least i + 1 accepted / those with i accepted and one more drafted"
    GEOMETRIC = "(1 - r^(K+1)) / (1 - r), r accepted / draft tokens: positions must be alike"
    OF_CONFIGURED = "accepted draft tokens / (steps * configured draft length)"


@dataclass(frozen=True, slots=True)
class Reported:
    """A figure that the source states: ``name`` as written there, ``values`` as shares or tokens
    (percent divided by 100), each within ``half_unit`` of the number that was rounded to it."""

    name: str
    rate: Rate
    values: tuple[Fraction, ...]
    half_units: tuple[Fraction, ...]
    percent: bool = False


@dataclass(frozen=True, slots=True)
class Counters:
    """What one source counted; None stands for what it does not say.

    ``accepted_at[i]`` counts steps with at least i + 1 accepted draft tokens, ``histogram[i]``
    steps with exactly i; ``step_accepted`` and ``step_drafted`` list the steps. ``written`` counts
    written tokens. ``draft_length`` is the configured number of draft tokens a step.
    ``interval_only``: the figures are gauges of the last logging interval. ``incomparable`` says
    why no model explains the acceptance (synthetic or simulated), ``notes`` what else limits a
    comparison.
    """

    source: str
    reader: str
    title: str
    label: str = ""
    steps: int | None = None
    draft_tokens: int | None = None
    accepted: int | None = None
    accepted_at: tuple[int, ...] | None = None
    histogram: tuple[int, ...] | None = None
    step_accepted: tuple[int, ...] | None = None
    step_drafted: tuple[int, ...] | None = None
    written: int | None = None
    draft_length: int | None = None
    reported: tuple[Reported, ...] = ()
    interval_only: bool = False
    incomparable: str = ""
    notes: tuple[str, ...] = field(default_factory=tuple)


@dataclass(frozen=True, slots=True)
class CounterFigure:
    """A figure that follows from the counts; ``position`` where it is one a position."""

    rate: Rate
    value: Fraction
    position: int | None = None


@dataclass(frozen=True, slots=True)
class CounterComparison:
    """A counted rate beside the exact one of a capture.

    ``possible`` is the most that a lossless rule with one draft reaches, ``expected`` what the
    declared rule reaches; ``tail`` bounds the chance of as many acceptances or more (``above``) or
    as few or fewer, if every step were one of the capture's.
    """

    rate: Rate
    counted: Fraction
    trials: int
    expected: Fraction
    possible: Fraction
    above: bool
    tail: float
    refuted: bool


@dataclass(frozen=True, slots=True)
class CounterReport:
    """Counters with everything that is said of them."""

    counters: Counters
    figures: tuple[CounterFigure, ...]
    comparisons: tuple[CounterComparison, ...] = ()


@dataclass(frozen=True, slots=True)
class Counted:
    """All counters of a run, and what they contradict."""

    reports: tuple[CounterReport, ...]
    findings: list[Finding]
