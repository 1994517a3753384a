"""A run against its baseline, step after step as the run goes on."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from fractions import Fraction

from specdist import __version__
from specdist.errors import SettingsError
from specdist.model.baseline import (
    Baseline,
    BaselineReport,
    StepChange,
    StepKey,
    StepRecord,
    What,
    file_of,
)
from specdist.model.figure import Figure
from specdist.model.report import StepResult
from specdist.verify.baseline.changes import Change, Found, changes
from specdist.verify.baseline.record import record_of
from specdist.verify.summary import Mean

_Weighed = tuple[tuple[int, Fraction], StepChange]


@dataclass
class Comparison:
    """Takes the finished steps of a run; `report` says how they compare with the baseline.

    Memory grows with the baseline and with what changed, not with the run.
    """

    baseline: Baseline
    tolerance: Fraction = Fraction(0)
    matched: int = 0
    new: int = 0
    left: dict[StepKey, list[StepRecord]] = field(init=False)
    found: dict[Change, list[_Weighed]] = field(init=False)
    conditions: list[str] = field(default_factory=list)
    other_conditions: int = 0
    before: Mean | None = field(default_factory=Mean)
    after: Mean | None = field(default_factory=Mean)

    def __post_init__(self) -> None:
        self.left = {}
        for step in self.baseline.steps:
            self.left.setdefault(step.key, []).append(step)
        self.shared = sum(len(steps) for steps in self.left.values() if len(steps) > 1)
        self.found = {change: [] for change in Change}

    def take(self, step: StepResult) -> None:
        """Compares one finished step with the one of the same file and id."""
        now = record_of(step)
        steps = self.left.get(now.key)
        if not steps:
            self.new += 1
            return
        was = steps.pop(0)
        self.matched += 1
        self._keep(now, changes(was, now, self.tolerance))
        self._condition(was, now)
        self._mean(was, now)

    def report(self) -> BaselineReport:
        """How the steps that were taken compare. Raises SettingsError where none was matched."""
        missing = [step.key for steps in self.left.values() for step in steps]
        if not self.matched and self.new:
            raise self._nothing_matched(missing)
        return BaselineReport(
            path=self.baseline.path,
            version=self.baseline.version,
            matched=self.matched,
            worse=self._sorted(Change.WORSE),
            undecided=self._sorted(Change.OPEN),
            better=self._sorted(Change.BETTER),
            missing=tuple(missing),
            new=self.new,
            acceptance_before=None if self.before is None else self.before.figure(),
            acceptance_after=None if self.after is None else self.after.figure(),
            notes=tuple(self._notes()),
        )

    def _keep(self, now: StepRecord, found: list[Found]) -> None:
        if not found:
            return
        change = min(item.change for item in found)
        told = sorted((f for f in found if f.change is change), key=lambda item: item.weight)
        step = StepChange(now.id, file_of(now.source), tuple(item.reason for item in told))
        self.found[change].append((told[0].weight, step))

    def _sorted(self, change: Change) -> tuple[StepChange, ...]:
        return tuple(step for _, step in sorted(self.found[change], key=lambda item: item[0]))

    def _condition(self, was: StepRecord, now: StepRecord) -> None:
        """Notes what the capture itself changed: its rule, its options, recipes of its roles."""
        if was.conditions == now.conditions:
            return
        self.other_conditions += 1
        if self.conditions:
            return
        old, new = dict(was.conditions), dict(now.conditions)
        for name in dict.fromkeys((*old, *new)):
            if old.get(name) != new.get(name):
                self.conditions.append(
                    f"{name} was {_or_none(old, name)}, is {_or_none(new, name)}"
                )

    def _mean(self, was: StepRecord, now: StepRecord) -> None:
        """Adds up the acceptance rates that both have; one that is no exact number ends that."""
        new = {item.position: item.value for item in now.measures if item.what is What.ACCEPTANCE}
        for item in was.measures:
            if item.what is not What.ACCEPTANCE or item.position not in new:
                continue
            pair = (item.value, new[item.position])
            if self.before is None or self.after is None or not all(map(_is_exact, pair)):
                self.before = self.after = None
                return
            for mean, value in zip((self.before, self.after), pair, strict=True):
                if isinstance(value, Figure):
                    mean.add(value)

    def _notes(self) -> Iterable[str]:
        if self.baseline.version != __version__:
            yield f"the baseline was written by specdist {self.baseline.version}"
        if self.shared:
            yield (
                f"{self.shared} steps of the baseline share file and id with another one; "
                "they were matched in their order"
            )
        if self.other_conditions:
            count = self.other_conditions
            steps = "1 step was" if count == 1 else f"{count} steps were"
            told = "; ".join(self.conditions[:3])
            yield f"{steps} checked under other settings of the capture: {told}"

    def _nothing_matched(self, missing: list[StepKey]) -> SettingsError:
        file, ident = missing[0]
        return SettingsError(
            f"none of the {self.new} steps of this run is in the baseline",
            place=self.baseline.path,
            expected=f"the same captures under the same names, as {file}, step {ident}",
            advice="run where the baseline was made, or write a new one with --format json",
        )


def _is_exact(value: object) -> bool:
    return isinstance(value, Figure) and value.exact is not None


def _or_none(values: dict[str, str], name: str) -> str:
    return values.get(name, "not given")
