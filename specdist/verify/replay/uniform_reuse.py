"""Uniforms that decide more than one thing: equal within a step, between steps, between sequences.

Of n uniforms on a grid of N points, of which each meets at most m earlier ones of its kind of
company, k or more repeat one with probability at most ``binomial(n, k) (m / N)^k``. Numbers that
decide nothing (accept uniforms behind the first rejection) are left out.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from math import lgamma, log

from specdist.model.finding import Finding, Severity
from specdist.model.replay_report import CheckCount, ReplayFinding, What
from specdist.model.trace import TraceStep
from specdist.verify.replay.step_laws import StepLaws
from specdist.verify.replay.tally import Tally, event
from specdist.verify.replay.uniform_grid import LEVEL, UniformGrid
from specdist.verify.replay.wording import decimal, plural

_REMEMBERED = 2**20
_WHERE = {
    "step": "of the same step",
    "sequence": "of an earlier step",
    "trace": "of another sequence",
}


@dataclass(slots=True)
class _Family:
    """Repeats of one kind, and the largest number of earlier uniforms that one could repeat."""

    tally: Tally
    most: int = 0
    accept_only: bool = True
    steps: set[tuple[int, int]] = field(default_factory=set)


@dataclass(frozen=True, slots=True)
class _Place:
    sequence: int
    index: int
    kind: str
    position: int


class UniformReuse:
    """The check of `reused-randomness`."""

    def __init__(self, grid: UniformGrid) -> None:
        self._grid = grid
        self._families = {
            name: _Family(Tally(f"uniforms {words}")) for name, words in _WHERE.items()
        }
        self._seen: dict[Fraction, _Place] = {}
        self._used = 0
        self._tally = Tally("uniforms used once")

    def add(self, laws: StepLaws) -> None:
        step = laws.step
        used = list(_used(step))
        if not used:
            return
        self._families["step"].most = max(self._families["step"].most, len(used) - 1)
        for kind, position, uniform in used:
            self._one(step, kind, position, uniform)
        self._families["sequence"].most = self._families["trace"].most = self._used

    def _one(self, step: TraceStep, kind: str, position: int, uniform: Fraction) -> None:
        self._used += 1
        here = _Place(step.sequence, step.index, kind, position)
        before = self._seen.get(uniform)
        if before is None:
            self._tally.take(True)
            if len(self._seen) < _REMEMBERED:
                self._seen[uniform] = here
            return
        self._tally.take(False)
        name = "trace"
        if before.sequence == here.sequence:
            name = "step" if before.index == here.index else "sequence"
        family = self._families[name]
        family.accept_only &= before.kind == kind == "accept"
        family.steps.add((step.sequence, step.index))
        where = f"{before.kind} {before.position}"
        if name != "step":
            where += f" of step {before.index}"
        if name == "trace":
            where += f" of sequence {before.sequence}"
        found = event(
            step, What.UNIFORM, position, None, f"{kind} u = {decimal(uniform)}", f"equals {where}"
        )
        family.tally.take(False, found)

    def _chance(self, family: _Family) -> float:
        """Decimal logarithm of the chance of so many repeats."""
        count, most = family.tally.differed, family.most
        if not count or not most:
            return 0.0
        bits = min(self._grid.bits(kind) for kind in ("accept", "draft", "final"))
        share = log(most) - bits * log(2)
        if share >= 0:
            return 0.0
        choices = lgamma(self._used + 1) - lgamma(count + 1) - lgamma(self._used - count + 1)
        return (choices + count * share) / log(10)

    def counts(self) -> Iterator[CheckCount]:
        yield self._tally.count()

    def findings(self) -> Iterator[ReplayFinding]:
        for name, family in self._families.items():
            chance = self._chance(family)
            if chance < LEVEL:
                yield ReplayFinding(self._finding(name, family, chance), tuple(family.tally.events))

    def _finding(self, name: str, family: _Family, chance: float) -> Finding:
        repeats = plural(family.tally.differed, "uniform")
        what = f"{repeats} repeat{'s' if family.tally.differed == 1 else ''} one {_WHERE[name]}"
        if name == "step" and family.accept_only:
            what = (
                f"one uniform decides several accept tests in {plural(len(family.steps), 'step')}"
            )
        notes = [
            f"by chance so many repeats have probability below 1e{int(chance // 1)} "
            f"(level 1e{LEVEL})"
        ]
        if name == "trace":
            notes.append("sequences with one seed: each follows its law, together they do not")
        else:
            notes.append(
                "each decision agrees with its number; together they follow another law than "
                "independent ones"
            )
        severity = Severity.NOTE if name == "trace" else Severity.ERROR
        return Finding("reused-randomness", severity, what, notes=tuple(notes))


def _used(step: TraceStep) -> Iterator[tuple[str, int, Fraction]]:
    """The uniforms of a step that decided something, with their kind and position."""
    for position, uniform in enumerate(step.u_draft or ()):
        yield "draft", position, uniform
    for position, uniform in enumerate((step.u_accept or ())[: step.tests]):
        yield "accept", position, uniform
    if step.u_final is not None:
        yield "final", step.n_accepted, step.u_final
