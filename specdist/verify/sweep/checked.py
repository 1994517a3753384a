"""One setting of a sweep: a full exact check of which the sums are kept, and no step."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from specdist.exact.interval import Interval
from specdist.model.capture import Capture, Unreadable
from specdist.model.figure import Figure
from specdist.model.report import Report, StepResult
from specdist.model.settings import Settings
from specdist.verify.run import check
from specdist.verify.summary import Mean

if TYPE_CHECKING:
    from concurrent.futures import Executor


@dataclass(slots=True)
class Lengths:
    """The expected tokens of the steps and the shapes of their proposals, met one by one."""

    steps: int = 0
    known: bool = True
    joint: bool = False
    tokens: Mean = field(default_factory=Mean)
    least: Mean = field(default_factory=Mean)
    most: Mean = field(default_factory=Mean)
    shapes: set[tuple[int, int]] = field(default_factory=set)

    def add(self, step: StepResult) -> None:
        """Takes one finished step."""
        self.steps += 1
        joint = step.joint
        if step.length_bounds is not None:
            self.least.add(Figure.of(step.length_bounds.least))
            self.most.add(Figure.of(step.length_bounds.most))
        elif joint is None:
            self._add(step.mean_acceptance_length, (1, 1))
        else:
            self.joint = True
            one = None if joint.requests else joint.expected_tokens
            self._add(one, (joint.depth, joint.nodes))

    def _add(self, tokens: Figure | None, shape: tuple[int, int]) -> None:
        if tokens is None or tokens.exact is None:
            self.known = False
            return
        self.shapes.add(shape)
        self.tokens.add(tokens)

    def mean(self) -> Figure | Interval | None:
        """Tokens of a step, bonus token included, as the mean over steps; None where rows do not
        determine them."""
        if not self.known or not self.steps:
            return None
        if not self.least.count:
            return self.tokens.figure()
        own = self.tokens.interval() if self.tokens.count else Interval.of(0)
        few, many = self.least.interval().least, self.most.interval().most
        counts = (self.least.count, self.tokens.count)
        return Interval(
            (counts[0] * few + counts[1] * own.least) / self.steps,
            (counts[0] * many + counts[1] * own.most) / self.steps,
        )

    @property
    def shape(self) -> tuple[int, int] | None:
        """Draft steps one after the other and draft tokens, where all proposals have the same."""
        return next(iter(self.shapes)) if len(self.shapes) == 1 else None


@dataclass(frozen=True, slots=True)
class Checked:
    """What is kept of one setting: the report without its steps, the idents of the findings, and
    what is known of expected tokens. ``joint``: a step is one over conditional models."""

    report: Report
    findings: tuple[str, ...]
    tokens: Figure | Interval | None
    shape: tuple[int, int] | None
    joint: bool


def checked(
    captures: Sequence[Capture | Unreadable],
    settings: Settings,
    *,
    executor: Executor | None = None,
    step_done: Callable[[int], None] | None = None,
) -> Checked:
    """Checks all captures under one setting. No table of tokens is made for rows of more than 64
    tokens. Raises SettingsError for a setting that does not fit."""
    checking = replace(settings.checking, show=0, cost=None)
    running = check(captures, replace(settings, checking=checking), retain=False, executor=executor)
    lengths = Lengths()
    idents: dict[str, None] = {}
    for step in running.results():
        running.kept.clear()
        lengths.add(step)
        idents |= dict.fromkeys(finding.ident for finding in step.findings)
        if step_done is not None:
            step_done(1)
    report = running.report()
    idents |= dict.fromkeys(finding.ident for finding in report.findings)
    return Checked(report, tuple(idents), lengths.mean(), lengths.shape, lengths.joint)
