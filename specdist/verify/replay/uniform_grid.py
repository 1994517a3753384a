"""The uniforms of a trace on their generator's grid: none off it, and not all on a coarser one.

A generator of b bits gives multiples of ``2^-b``. That n different ones all lie on ``2^-g`` has
probability ``2^(-(b - g) n)``; over the b grids that could have been noticed, at most b times that.
Grids of 23 bits and more are what float32 generators have, and move no law by more than 2^-23.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from fractions import Fraction
from math import log10

from specdist.model.finding import Finding, Severity
from specdist.model.replay_report import CheckCount, Event, ReplayFinding, What
from specdist.model.row import NumberFormat
from specdist.verify.replay.step_laws import StepLaws
from specdist.verify.replay.tally import Tally, event
from specdist.verify.replay.wording import counted

LEVEL = -9
"""Decimal logarithm of the chance below which a pattern counts as found."""
BITS = {NumberFormat.FLOAT32: 24, NumberFormat.FLOAT64: 53}
_FEWEST = 8
_HARMLESS = 23
_MILD = 17
_SHOWN = 12
KINDS = ("accept", "draft", "final")


@dataclass(slots=True)
class _Group:
    """Uniforms of one kind: how many, their different values as far as they matter, and the
    smallest g with all of them multiples of 2^-g (None: some are no multiple of any)."""

    count: int = 0
    off: int = 0
    bits: int = 0
    different: set[Fraction] = field(default_factory=set)
    events: list[tuple[Event, Fraction]] = field(default_factory=list)


class UniformGrid:
    """The check of `off-grid-uniform`. ``declared``: the generator's bits; None: not known.
    ``presumed``: nothing states them, so that a finer number is no contradiction."""

    def __init__(self, declared: int | None, presumed: bool = False) -> None:
        self.declared, self._presumed = declared, presumed
        self._tally = Tally("uniforms on the generator's grid")
        self._groups = {kind: _Group() for kind in KINDS}

    def add(self, laws: StepLaws) -> None:
        step = laws.step
        for kind, uniforms in zip(
            KINDS,
            (step.u_accept, step.u_draft, None if step.u_final is None else (step.u_final,)),
            strict=True,
        ):
            for position, uniform in enumerate(uniforms or ()):
                self._one(laws, kind, position, uniform)

    def _one(self, laws: StepLaws, kind: str, position: int, uniform: Fraction) -> None:
        group = self._groups[kind]
        group.count += 1
        if self.declared is None:
            self._tally.skip("no generator is declared")
            return
        on_grid = (uniform * 2**self.declared).denominator == 1
        if not on_grid and self._presumed:
            group.off += 1
            self._tally.skip(f"finer than 2^-{self.declared}, which nothing states")
            return
        shown = f"{kind} u = {float(uniform)!r}"
        expected = f"a multiple of 2^-{self.declared}"
        found = event(laws.step, What.UNIFORM, position, None, shown, expected)
        self._tally.take(on_grid, found)
        if not on_grid:
            group.off += 1
            return
        group.bits = max(group.bits, uniform.denominator.bit_length() - 1)
        if len(group.different) < 2**16:
            group.different.add(uniform)
        if len(group.events) < _SHOWN:
            group.events.append((found, uniform))

    def bits(self, kind: str) -> int:
        """The grid that the uniforms of a kind seem to have: the declared one, or a coarser one
        that is no chance."""
        group, declared = self._groups[kind], self.declared or BITS[NumberFormat.FLOAT64]
        return group.bits if self._chance(group) < LEVEL else declared

    def _chance(self, group: _Group) -> float:
        """Decimal logarithm of the chance that all lie on so coarse a grid; 0 where it is none."""
        if self.declared is None or group.off or len(group.different) < _FEWEST:
            return 0.0
        missing = self.declared - group.bits
        return log10(self.declared) - missing * len(group.different) * log10(2) if missing else 0.0

    def counts(self) -> Iterator[CheckCount]:
        yield self._tally.count()

    def findings(self) -> Iterator[ReplayFinding]:
        if self._tally.differed:
            subject = counted(
                self._tally.differed, self._tally.agreed + self._tally.differed, "uniform"
            )
            finding = Finding(
                "off-grid-uniform",
                Severity.WARNING,
                f"{subject} {'are' if self._tally.differed > 1 else 'is'} no multiple of "
                f"2^-{self.declared}",
                notes=("the declared generator gives no such number",),
            )
            yield ReplayFinding(finding, tuple(self._tally.events))
        for kind, group in self._groups.items():
            chance = self._chance(group)
            if chance < LEVEL:
                events = (_on_grid(*pair, group.bits) for pair in group.events)
                yield ReplayFinding(self._coarse(kind, group, chance), tuple(events))

    def _coarse(self, kind: str, group: _Group, chance: float) -> Finding:
        severity = Severity.ERROR if group.bits < _MILD else Severity.WARNING
        if group.bits >= _HARMLESS:
            severity = Severity.NOTE
        points = 2**group.bits
        effect = {
            "accept": f"each acceptance probability is rounded to a multiple of 1/{points}: total "
            f"variation up to 1/{points} a position",
            "draft": "the draft is drawn from another law than its rows state",
            "final": f"recovered and bonus tokens of less than 1/{points} may never be drawn",
        }[kind]
        return Finding(
            "off-grid-uniform",
            severity,
            f"all {group.count} {kind} uniforms are multiples of 2^-{group.bits}",
            notes=(
                f"a generator with {self.declared} bits gives {len(group.different)} such numbers "
                f"with probability below 1e{int(chance // 1)} (level 1e{LEVEL})",
                effect,
            ),
        )


def _on_grid(found: Event, uniform: Fraction, bits: int) -> Event:
    """The event of a uniform that lies on a coarse grid."""
    return replace(found, possible=f"{uniform * 2**bits}/{2**bits}")
