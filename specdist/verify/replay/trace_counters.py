"""Acceptance figures counted from the decisions, and what the run reported beside them.

Counted are the decisions before the first rejection of each step: what a mask holds behind it was
discarded. Reported counters are those of every step (``n_accepted``) and those of the run. Engines
count a step without draft tokens or leave it out (vLLM 0.33.0, ``make_spec_decoding_stats`` in
v1/core/sched/scheduler.py, is called for steps with scheduled draft tokens): the counters of a run
are held against both, and agree where all of them agree with one.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from specdist.model.counters import CounterFigure, Counters
from specdist.model.finding import Finding, Severity
from specdist.model.replay_report import CheckCount, ReplayFinding, StepLine, What
from specdist.model.trace import FinalKind
from specdist.verify.counters.contradictions import contradictions
from specdist.verify.counters.figures import completed, figures
from specdist.verify.replay.step_laws import StepLaws
from specdist.verify.replay.tally import Tally, event
from specdist.verify.replay.wording import counted

_FIELDS = {
    "steps": "steps",
    "draft_tokens": "draft tokens",
    "accepted": "accepted draft tokens",
    "histogram": "steps by accepted tokens",
    "accepted_at": "steps by least accepted position",
    "step_accepted": "accepted tokens of each step",
    "step_drafted": "draft tokens of each step",
}


class TraceCounters:
    """The check of `metric-mismatch`."""

    def __init__(self, source: str, reported: tuple[Counters, ...]) -> None:
        self._source, self.reported = source, reported
        self._steps = Tally("reported counts of steps")
        self._run = Tally("reported counters of the run")
        self._accepted: list[int] = []
        self._drafted: list[int] = []
        self._masked = 0
        self._written = 0
        self.lines: list[StepLine] = []

    def add(self, laws: StepLaws) -> None:
        step = laws.step
        self._accepted.append(step.n_accepted)
        self._drafted.append(len(step.drafted))
        self._written += len(step.emitted)
        self._masked += sum(step.mask) if step.mask is not None else step.n_accepted
        if step.reported_accepted is not None and step.accepted is not None:
            recorded = f"{step.reported_accepted} accepted"
            possible = f"{step.n_accepted}, up to the first rejection"
            found = event(step, What.ACCEPT, None, None, recorded, possible)
            self._steps.take(step.reported_accepted == step.n_accepted, found)
        kind = FinalKind.RECOVERED if step.rejected else FinalKind.BONUS
        self.lines.append(
            StepLine(
                step.source,
                step.sequence,
                step.index,
                len(step.drafted),
                step.n_accepted,
                len(step.emitted),
                kind,
            )
        )

    def counters(self) -> Counters:
        """What the decisions come to."""
        return self._counted(tuple(range(len(self._drafted))))

    def _counted(self, steps: tuple[int, ...]) -> Counters:
        """The counters over some of the steps; the written tokens are those of all."""
        return completed(
            Counters(
                self._source,
                "replay",
                "counted from the decisions",
                step_accepted=tuple(self._accepted[step] for step in steps),
                step_drafted=tuple(self._drafted[step] for step in steps),
                written=self._written,
            )
        )

    def figures(self) -> tuple[CounterFigure, ...]:
        """Every figure with its definition."""
        return figures(self.counters())

    def counts(self) -> Iterator[CheckCount]:
        self._compare()
        if self._steps.agreed or self._steps.differed:
            yield self._steps.count()
        if self.reported:
            yield self._run.count()

    def findings(self) -> Iterator[ReplayFinding]:
        steps = self._steps
        if steps.differed:
            subject = counted(steps.differed, steps.agreed + steps.differed, "reported count")
            note = "a decision behind the first rejection is discarded, and accepts nothing"
            finding = Finding(
                "metric-mismatch",
                Severity.ERROR,
                f"{subject} of accepted tokens {'are' if steps.differed > 1 else 'is'} not that "
                "of the decisions",
                notes=(note,),
            )
            yield ReplayFinding(finding, tuple(steps.events))
        for finding in self._compare():
            yield ReplayFinding(finding)

    def _compare(self) -> list[Finding]:
        """Every reported counter against ours: over all steps, or over those that drafted."""
        self._run = Tally("reported counters of the run")
        drafting = tuple(step for step, length in enumerate(self._drafted) if length)
        found: list[Finding] = []
        for theirs in self.reported:
            compared, wrong = self._against(theirs, self.counters())
            if wrong and 0 < len(drafting) < len(self._drafted):
                others, left = self._against(theirs, self._counted(drafting))
                if not left:
                    compared, wrong = others, []
                    found.append(self._drafting(theirs, len(drafting)))
            self._run.agreed += max(compared - len(wrong), 0)
            self._run.differed += len(wrong)
            found += wrong
        return found

    def _against(self, theirs: Counters, ours: Counters) -> tuple[int, list[Finding]]:
        """How many figures of one source were compared, and those that differ."""
        compared, found = len(theirs.reported), []
        for name, words in _FIELDS.items():
            mine, stated = getattr(ours, name), getattr(theirs, name)
            if stated is None or mine is None:
                continue
            compared += 1
            if not _same(mine, stated):
                found.append(self._mismatch(theirs, name, words, mine, stated))
        rates = contradictions(replace(ours, source=theirs.source, reported=theirs.reported))
        return compared, [*found, *rates]

    def _drafting(self, theirs: Counters, steps: int) -> Finding:
        return Finding(
            "metric-mismatch",
            Severity.NOTE,
            f"{theirs.source} counts the {counted(steps, len(self._drafted), 'step')} that "
            "drafted, not those without draft tokens",
        )

    def _mismatch(
        self, theirs: Counters, name: str, words: str, mine: object, stated: object
    ) -> Finding:
        notes = []
        if name == "accepted" and stated == self._masked != mine:
            notes.append("it counts decisions behind the first rejection, which were discarded")
        elif name == "accepted" and stated == self._written:
            notes.append("it counts recovered and bonus tokens, which are no draft tokens")
        return Finding(
            "metric-mismatch",
            Severity.ERROR,
            f"{theirs.source}: {words}: {_shown(stated)} reported, {_shown(mine)} counted",
            notes=tuple(notes),
        )


def _same(mine: object, stated: object) -> bool:
    """Equality; lists may end in zeros."""
    if isinstance(mine, tuple) and isinstance(stated, tuple):
        width = max(len(mine), len(stated))
        return mine + (0,) * (width - len(mine)) == stated + (0,) * (width - len(stated))
    return mine == stated


def _shown(value: object) -> str:
    if not isinstance(value, tuple):
        return str(value)
    text = ", ".join(map(str, value[:12]))
    return f"{text}, ..." if len(value) > 12 else text
