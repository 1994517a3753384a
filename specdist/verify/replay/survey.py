"""What a trace shows before any fault is named: grids of its uniforms, and ends of its pruning."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction

from specdist.model.trace import TraceStep
from specdist.verify.replay.engine_model import MEASURES, EngineModel
from specdist.verify.replay.pruning import Ends, measured
from specdist.verify.replay.recorded_rows import RecordedRows

KINDS = ("draft", "accept", "final")


@dataclass(slots=True)
class Survey:
    """Read from every step once. ``grid``: points of the coarsest grid ``k / 2^n`` that holds every
    accept uniform (0: none does). ``bits`` by kind of uniform: the most significant bits of one.
    ``steps`` counts those with rows, ``dropped`` the proposed tokens that were not submitted."""

    grid: int = 1
    bits: dict[str, int] = field(default_factory=lambda: dict.fromkeys(KINDS, 0))
    steps: int = 0
    dropped: int = 0
    ends: dict[str, Ends] = field(default_factory=lambda: {name: Ends() for name in MEASURES})

    def add_uniforms(self, step: TraceStep) -> None:
        """Takes in the random numbers of a step."""
        for kind, uniform in recorded_uniforms(step):
            self.bits[kind] = max(self.bits[kind], significant_bits(uniform))
        for uniform in used_uniforms(step):
            points = uniform.denominator
            power = points & (points - 1) == 0
            self.grid = max(self.grid, points) if power and self.grid else 0

    def add_rows(self, rows: RecordedRows, declared: EngineModel) -> None:
        """Takes in the draft probabilities of proposed tokens, where some were dropped."""
        self.steps += 1
        proposed = rows.step.proposed
        if proposed is None:
            return
        submitted = len(rows.step.drafted)
        self.dropped += len(proposed) > submitted
        source = declared.confidence
        for index, token in enumerate(proposed[: submitted + 1]):
            if index < len(rows.rows("draft")):
                law = rows.law(source.side, index, source.recipe)
                for measure, ends in self.ends.items():
                    ends.add(measured(measure, law, token, index), index < submitted)


def recorded_uniforms(step: TraceStep) -> Iterator[tuple[str, Fraction]]:
    """Kind and value of the uniforms that decided something, in the order in which they did."""
    for uniform in step.u_draft or ():
        yield "draft", uniform
    for uniform in used_uniforms(step):
        yield "accept", uniform
    if step.u_final is not None:
        yield "final", step.u_final


def used_uniforms(step: TraceStep) -> tuple[Fraction, ...]:
    """The accept uniforms up to the first rejection; behind it a trace may hold anything."""
    return (step.u_accept or ())[: step.tests]


def significant_bits(uniform: Fraction) -> int:
    """Significant bits of a binary fraction, and of a decimal one what its digits come to; 0 for
    any other number, and for 0 itself."""
    below = uniform.denominator
    if below & (below - 1) == 0:
        odd = uniform.numerator
        return odd.bit_length() - (odd & -odd).bit_length() + 1 if odd else 0
    digits = 0
    while below % 2 == 0 or below % 5 == 0:
        below //= 10 if below % 10 == 0 else 2 if below % 2 == 0 else 5
        digits += 1
    if below != 1:
        return 0
    scaled = uniform * 10**digits
    written = str(scaled.numerator).rstrip("0")
    return 1 + (len(written) - 1) * 332 // 100
