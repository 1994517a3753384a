"""A whole run: captures in, results out one by one, a report at the end."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from time import monotonic
from typing import TYPE_CHECKING

from specdist import __version__
from specdist.errors import SettingsError, SpecdistError
from specdist.model.capture import Capture, Step, Unreadable, Vocab
from specdist.model.cost import Basis
from specdist.model.counters import Counted
from specdist.model.finding import Finding, Severity
from specdist.model.outcome import accuses
from specdist.model.report import Report, StepResult
from specdist.model.settings import Settings
from specdist.model.verdict import Verdict
from specdist.verify.baseline.review import review as review_baseline
from specdist.verify.counters.first_positions import FirstTally
from specdist.verify.floors import BELOW, missed_floor
from specdist.verify.listing_size import large_listing
from specdist.verify.scope import (
    fills_roles_as_specified,
    guesses,
    in_force,
    scope_of,
)
from specdist.verify.severities import Severities
from specdist.verify.spread import verify_all
from specdist.verify.summary import Tally
from specdist.verify.vocab_check import check_vocab

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from specdist.model.counters import Counters
    from specdist.verify.baseline.comparison import Comparison


def check(
    captures: Iterable[Capture | Unreadable],
    settings: Settings,
    *,
    vocab: Vocab | None = None,
    executor: Executor | None = None,
    shown: Mapping[str, object] | None = None,
    retain: bool = True,
    announce: Callable[[str], None] | None = None,
    counters: tuple[Counters, ...] = (),
    against: Comparison | None = None,
) -> Run:
    """A run over captures. Nothing is read or verified before `Run.results` is consumed.

    ``shown`` is what the report prints as its settings. With ``retain`` false the report keeps
    only the steps that are not equal, so that memory does not grow with the capture. ``announce``
    is told of long enumerations before they start. ``counters`` are compared with the exact
    acceptance of the steps at the end, and every step with the baseline of ``against``.
    """
    tally = Tally(settings.checking.exact, settings.checking.allow)
    grades = Severities(settings.checking.severity, settings.checking.allow)
    rest = (announce, counters, against)
    return Run(captures, settings, vocab, executor, shown or {}, retain, tally, grades, *rest)


@dataclass
class Run:
    """See `check`. `results` yields each finished step; `report` sums up once it has ended."""

    captures: Iterable[Capture | Unreadable]
    settings: Settings
    vocab: Vocab | None
    executor: Executor | None
    shown: Mapping[str, object]
    retain: bool
    tally: Tally
    grades: Severities
    announce: Callable[[str], None] | None = None
    counters: tuple[Counters, ...] = ()
    against: Comparison | None = None
    first: FirstTally = field(default_factory=FirstTally)
    kept: list[StepResult] = field(default_factory=list)
    unreadable: list[Unreadable] = field(default_factory=list)
    sources: list[str] = field(default_factory=list)
    filtered_out: int = 0
    findings: list[Finding] = field(default_factory=list)
    read_as: list[str] = field(default_factory=list)
    in_force: list[str] = field(default_factory=list)
    as_specified: bool = True
    bases: set[Basis] = field(default_factory=set)

    def results(self) -> Iterator[StepResult]:
        """Verifies step after step. A capture that turns out malformed is kept as unreadable.

        Raises SettingsError at once: a setting that does not fit is the same for every capture.
        """
        started = monotonic()
        for capture in self.captures:
            if self.sources and self._out_of_time(started):
                what = f"the time budget ended the run before {capture.source}"
                self.findings.append(Finding("undecided-budget", Severity.WARNING, what))
                break
            if isinstance(capture, Unreadable):
                self.unreadable.append(capture)
                continue
            try:
                yield from self._capture_results(capture, started)
            except SettingsError:
                raise
            except SpecdistError as error:
                self.unreadable.append(Unreadable.of(capture.source, error))
            else:
                self.sources.append(capture.source)

    def report(self) -> Report:
        """The report over everything that `results` has yielded."""
        summary = self.tally.summary()
        floors = self._missed_floors()
        missed = [finding for finding in floors if finding.ident == BELOW]
        open_ended = self.findings + [finding for finding in floors if finding not in missed]
        counted = self._counted()
        compared = review_baseline(self.against, self.settings.checking, self.findings)
        findings = self.grades.run([*open_ended, *missed, *counted.findings, *compared.findings])
        failing = [f.message for f in findings if f.ident == BELOW and accuses(f)]
        return Report(
            version=__version__,
            verdict=self._verdict(bool(open_ended) or compared.open_ended),
            settings=self.shown,
            summary=summary,
            steps=tuple(self.kept),
            findings=tuple(findings),
            counters=counted.reports,
            baseline=compared.report,
            unreadable=tuple(item for item in self.unreadable if item.counts),
            not_captures=tuple(item.source for item in self.unreadable if not item.counts),
            scope=scope_of(self.bases, self.as_specified and summary.steps > 0),
            filtered_out=self.filtered_out,
            floors_missed=tuple(failing),
            raised=self.grades.raised,
            sources=tuple(self.sources),
            read_as=tuple(self.read_as),
            in_force=tuple(self.in_force),
        )

    def _capture_results(self, capture: Capture, started: float) -> Iterator[StepResult]:
        checking = self.settings.checking
        # A rule from a user's file is not found again in another process.
        workers = 1 if checking.user_rule else checking.workers or os.cpu_count() or 1
        guessed = guesses(capture)
        self.read_as += [guessed] if guessed else []
        steps = self.selected(capture)
        for done, found in enumerate(verify_all(steps, checking, workers, self.executor), 1):
            result = self.grades.step(found)
            self._take(result)
            yield result
            if self._out_of_time(started):
                self._stop(capture, done)
                return

    def _take(self, result: StepResult) -> None:
        if not self.tally.steps:
            self.in_force += in_force(self.settings.checking, result)
        self.tally.add(result)
        if self.counters:
            self.first.add(result)
        if self.against is not None:
            self.against.take(result)
        self.bases |= {line.basis for line in result.cost}
        self.as_specified = self.as_specified and fills_roles_as_specified(result)
        if self.retain or result.verdict is not Verdict.EQUAL:
            self.kept.append(result)

    def _stop(self, capture: Capture, done: int) -> None:
        """The time budget is spent: whatever was not checked is undecided."""
        selected = self.settings.reading.select is not None or self.settings.reading.limit
        left = None if selected or capture.step_count is None else capture.step_count - done
        if left == 0:
            return
        self.tally.verdicts[Verdict.UNDECIDED] += left or 0
        steps = f"{done} step{'s' if done != 1 else ''}"
        rest = "the others were" if left is None else f"the other {left} were"
        self.findings.append(
            Finding(
                "undecided-budget",
                Severity.WARNING,
                f"the time budget ended the run after {steps} of {capture.source}; "
                f"{rest} not checked",
            )
        )

    def selected(self, capture: Capture) -> Iterator[Step]:
        """The steps of a capture that the settings choose."""
        reading = self.settings.reading
        taken = 0
        for step in capture.steps():
            if reading.select is not None and not fnmatchcase(step.id, reading.select):
                self.filtered_out += 1
                continue
            if reading.limit is not None and taken >= reading.limit:
                return
            taken += 1
            if taken == 2 and self.settings.checking.history is not None:
                raise SettingsError(
                    "history is what one step has seen, and there is more than one step",
                    place=capture.source,
                    advice="choose a step with --select, or write context into a JSON capture",
                )
            named = step.vocab or capture.vocab or self.vocab
            check_vocab(named, step)
            if self.announce is not None:
                said = large_listing(step, self.settings.checking)
                if said is not None:
                    self.announce(said)
            yield replace(step, vocab=named, ordinal=taken - 1)

    def _out_of_time(self, started: float) -> bool:
        budget = self.settings.checking.budget
        return budget is not None and monotonic() - started > budget

    def _verdict(self, open_ended: bool) -> Verdict:
        counts = self.tally.verdicts
        for verdict in (Verdict.DIFFERENT, Verdict.UNDECIDED):
            if counts[verdict]:
                return verdict
        if open_ended:
            return Verdict.UNDECIDED
        for verdict in (Verdict.WITHIN_TOLERANCE, Verdict.EQUAL):
            if counts[verdict]:
                return verdict
        return Verdict.NOTHING_CHECKED

    def _counted(self) -> Counted:
        if not self.counters:
            return Counted((), [])
        from specdist.verify.counters.review import review

        return review(self.counters, self.first.found, self.settings.checking.allow)

    def _missed_floors(self) -> list[Finding]:
        floor = self.settings.checking.min_acceptance
        if floor is None or self.tally.reaches(floor):
            return []
        return missed_floor(self.tally, floor, self.settings.checking.allow)
