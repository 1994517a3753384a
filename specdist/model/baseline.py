"""The baseline: what an accepted report said of its steps, and how a run compares with it.

A step of a run and a step of the accepted report become the same `StepRecord`, so that they can be
compared without asking where they come from.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from fractions import Fraction
from functools import lru_cache
from os import getcwd
from os.path import isabs, normpath, relpath

from specdist.exact.interval import Interval
from specdist.model.figure import Figure
from specdist.model.verdict import Verdict

_PLACE = re.compile(r", (?:steps?\b|rows? \d|line \d|\[)")

StepKey = tuple[str, str]
"""File and id of a step: what tells it from the other steps of a run."""


class What(StrEnum):
    """What of a step can change."""

    VERDICT = "verdict"
    COVERAGE = "coverage"
    VARIATION = "total variation"
    ACCEPTANCE = "acceptance rate"
    FINDING = "finding"


@dataclass(frozen=True, slots=True)
class Measure:
    """A number of a step: at a position, in the bonus row (-1), or of the step as a whole (None).
    It is known as a figure, or between two numbers."""

    what: What
    position: int | None
    value: Figure | Interval


@dataclass(frozen=True, slots=True)
class StepRecord:
    """A step as far as it is compared: ``idents`` are those of its findings, ``loud`` those of
    errors and warnings among them; ``conditions`` are its rule, its options and the recipes of its
    roles."""

    id: str
    source: str
    verdict: Verdict
    measures: tuple[Measure, ...]
    idents: frozenset[str]
    loud: frozenset[str]
    conditions: tuple[tuple[str, str], ...] = ()

    @property
    def key(self) -> StepKey:
        """File and id."""
        return file_of(self.source), self.id


@dataclass(frozen=True, slots=True)
class Baseline:
    """An accepted report: the version that wrote it, its settings, its steps in their order."""

    path: str
    version: str
    settings: Mapping[str, object]
    steps: tuple[StepRecord, ...]


@dataclass(frozen=True, slots=True)
class Reason:
    """One thing that changed at a step; ``before`` or ``after`` is None where it is not there."""

    what: What
    position: int | None
    before: Figure | Interval | str | None
    after: Figure | Interval | str | None
    message: str


@dataclass(frozen=True, slots=True)
class StepChange:
    """A step that is not as it was."""

    id: str
    source: str
    reasons: tuple[Reason, ...]


@dataclass(frozen=True, slots=True)
class BaselineReport:
    """A run against its baseline. ``worse`` and ``undecided`` (what is known leaves open whether
    they are worse) are sorted, worst first; ``new`` counts the steps that the baseline does not
    have; ``notes`` say what limits the comparison."""

    path: str
    version: str
    matched: int
    worse: tuple[StepChange, ...] = ()
    undecided: tuple[StepChange, ...] = ()
    better: tuple[StepChange, ...] = ()
    missing: tuple[StepKey, ...] = ()
    new: int = 0
    acceptance_before: Figure | Interval | None = None
    acceptance_after: Figure | Interval | None = None
    notes: tuple[str, ...] = field(default_factory=tuple)


def file_of(source: str) -> str:
    """The file of a step without the place in it, as a name that is the same however it was
    written: below the working directory relative to it, with forward slashes."""
    return _normal(_PLACE.split(source, maxsplit=1)[0])


@lru_cache(maxsize=1024)
def _normal(name: str) -> str:
    path = normpath(name)
    if isabs(path):
        inside = relpath(path, getcwd())
        path = path if inside.startswith("..") else inside
    return path.replace("\\", "/")


def divided(figure: Figure, count: int) -> Figure:
    """The figure over a whole number, which makes it a number from 0 to 1. Without an exact value
    its rounding to a float64 and that of the quotient enter the bound."""
    bound = None if figure.bound is None else figure.bound / count
    if figure.exact is not None:
        return Figure.of(figure.exact / count, bound)
    return Figure(figure.approx / count, None, (bound or 0) + Fraction(1, 2**51))
