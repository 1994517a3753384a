"""What a trace shows before any fault is named: grids of its uniforms, and ends of its pruning."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from fractions import Fraction

from specdist.model.role import Role
from specdist.model.trace import TraceStep
from specdist.verify.replay.engine_model import EngineModel
from specdist.verify.replay.pruned import measured
from specdist.verify.replay.recorded_rows import RecordedRows

MEASURES = ("own-probability", "top-probability", "draft-entropy")


@dataclass(slots=True)
class Ends:
    """The largest number of a dropped token, the smallest of a kept one, and how many of each."""

    dropped: Fraction | None = None
    kept: Fraction | None = None

    def add(self, value: Fraction, kept: bool) -> None:
        if kept:
            self.kept = value if self.kept is None else min(self.kept, value)
        else:
            self.dropped = value if self.dropped is None else max(self.dropped, value)


@dataclass(slots=True)
class Survey:
    """Read from every step once. ``grid`` is the least common denominator of the accept uniforms
    where it is a power of two (1: none recorded); ``shared`` counts steps with two or more accept
    uniforms, all equal, and ``apart`` those where they differ. ``ends`` by measure."""

    grid: int = 1
    uniforms: int = 0
    shared: int = 0
    apart: int = 0
    dropped: int = 0
    ends: dict[str, Ends] = field(default_factory=lambda: {name: Ends() for name in MEASURES})

    def add(self, rows: RecordedRows, declared: EngineModel) -> None:
        """Takes in one step."""
        self._add_uniforms(rows.step)
        proposed = rows.step.proposed
        if proposed is None:
            return
        submitted = len(rows.step.drafted)
        self.dropped += len(proposed) > submitted
        source = declared.sources[Role.ACCEPT_DRAFT]
        if Role.ACCEPT_DRAFT in declared.one_hot:
            source = declared.sources[Role.DRAFTED_FROM]
        for index, token in enumerate(proposed[: submitted + 1]):
            if index < len(rows.rows("draft")):
                law = rows.law(source.side, index, source.recipe)
                for measure, ends in self.ends.items():
                    ends.add(measured(measure, law, token), index < submitted)

    def _add_uniforms(self, step: TraceStep) -> None:
        uniforms = step.u_accept or ()
        self.uniforms += len(uniforms)
        self.grid = max([self.grid, *(_power(uniform) for uniform in uniforms)])
        if len(uniforms) > 1:
            self.shared += len(set(uniforms)) == 1
            self.apart += len(set(uniforms)) > 1


def _power(uniform: Fraction) -> int:
    """The denominator, where it is a power of two; else more than any grid has."""
    below = uniform.denominator
    return below if below & (below - 1) == 0 else 1 << 2000


def simplest_between(low: Fraction, high: Fraction) -> Fraction:
    """The number above ``low`` and up to ``high`` with the fewest decimal digits, the smallest of
    them; a threshold is usually written so. ``0 <= low < high``."""
    for digits in range(1, 60):
        scale = 10**digits
        candidate = Fraction(low.numerator * scale // low.denominator + 1, scale)
        if candidate <= high:
            return candidate
    return high


def surveyed(steps: Iterable[RecordedRows], declared: EngineModel) -> Survey:
    """The survey of all steps."""
    survey = Survey()
    for rows in steps:
        survey.add(rows, declared)
    return survey
