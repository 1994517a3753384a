"""The context after a step is the one before it and what was emitted, nothing of what was rejected.

The next step of the sequence then starts from there. Where only lengths are recorded, they are
compared.
"""

from __future__ import annotations

from collections.abc import Iterator

from specdist.model.finding import Finding, Severity
from specdist.model.replay_report import CheckCount, Event, ReplayFinding, What
from specdist.model.trace import TraceStep
from specdist.verify.replay.step_laws import StepLaws
from specdist.verify.replay.tally import Tally, event
from specdist.verify.replay.wording import counted

_NO_CONTEXT = "no contexts recorded"
Tokens = tuple[int, ...]


class Contexts:
    """The check of `context-mismatch` by rollback."""

    def __init__(self) -> None:
        self._after = Tally("contexts after a step")
        self._before = Tally("contexts handed on")
        self._last: dict[int, TraceStep] = {}

    def add(self, laws: StepLaws) -> None:
        step = laws.step
        self._rolled_back(step)
        before = self._last.get(step.sequence)
        if before is not None:
            self._handed_on(before, step)
        self._last[step.sequence] = step

    def _rolled_back(self, step: TraceStep) -> None:
        if step.next_context is None or step.context is None:
            self._after.skip(_NO_CONTEXT)
            return
        due = step.context + step.emitted
        found = None
        if step.next_context != due:
            found = _event(step, due, step.next_context)
        self._after.take(found is None, found)

    def _handed_on(self, before: TraceStep, step: TraceStep) -> None:
        if step.index != before.index + 1:
            self._before.skip("steps between are not recorded")
            return
        known = before.next_context
        if known is None and before.context is not None:
            known = before.context + before.emitted
        if known is not None and step.context is not None:
            found = None if step.context == known else _event(step, known, step.context)
            self._before.take(found is None, found)
        elif step.context_length is None or before.context_length is None:
            self._before.skip(_NO_CONTEXT)
        else:
            length = before.context_length + len(before.emitted)
            recorded, possible = f"{step.context_length} tokens", f"{length} tokens"
            found = event(step, What.CONTEXT, None, None, recorded, possible)
            self._before.take(step.context_length == length, found)

    def counts(self) -> Iterator[CheckCount]:
        yield self._after.count()
        yield self._before.count()

    def findings(self) -> Iterator[ReplayFinding]:
        for tally, words in (
            (self._after, "are not the one before and the emitted tokens"),
            (self._before, "are not the one that the step before left"),
        ):
            if tally.differed:
                subject = counted(tally.differed, tally.agreed + tally.differed, "context")
                text = words if tally.differed > 1 else words.replace("are", "is", 1)
                finding = Finding(
                    "context-mismatch",
                    Severity.ERROR,
                    f"{subject} {text}",
                    notes=("rows of a context that was not emitted are those of another text",),
                )
                yield ReplayFinding(finding, tuple(tally.events))


def _event(step: TraceStep, due: Tokens, found: Tokens) -> Event:
    """What is wrong with a context, in few words."""
    place = next(
        (i for i, pair in enumerate(zip(due, found, strict=False)) if len(set(pair)) > 1), 0
    )
    if found[: len(due)] == due or due[: len(found)] == found:
        place = min(len(due), len(found))
    more = found[place:]
    base = len(step.context or ())
    rejected = step.drafted[step.n_accepted :]
    words = f"{len(found)} tokens, token {place} is {more[0] if more else 'missing'}"
    inside = place - base - step.n_accepted
    at_its_place = 0 <= inside < len(rejected) and more[:1] == (rejected[inside],)
    if at_its_place or (more and more[: len(rejected)] == rejected):
        words = f"token {place} is {more[0]}, drafted and rejected"
    expected = f"{len(due)} tokens"
    if place < len(due):
        expected = f"token {place} is {due[place]}"
    return event(step, What.CONTEXT, None, more[0] if more else None, words, expected)
