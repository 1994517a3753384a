"""Nothing is emitted after an end token, in its step or in a later one."""

from __future__ import annotations

from collections.abc import Iterator

from specdist.model.finding import Finding, Severity
from specdist.model.replay_report import CheckCount, ReplayFinding, What
from specdist.verify.replay.step_laws import StepLaws
from specdist.verify.replay.tally import Tally, event
from specdist.verify.replay.wording import counted


class EndTokens:
    """The check of the cut at end tokens."""

    def __init__(self, end_tokens: tuple[int, ...]) -> None:
        self._ends = frozenset(end_tokens)
        self._tally = Tally("steps up to the end token")
        self._ended: dict[int, int] = {}

    def add(self, laws: StepLaws) -> None:
        step = laws.step
        if not self._ends:
            self._tally.skip("no end token is declared")
            return
        before = self._ended.get(step.sequence)
        place = next((i for i, token in enumerate(step.emitted) if token in self._ends), None)
        if before is not None and step.emitted:
            recorded = f"goes on after end token {before}"
            found = event(step, What.EMITTED, None, step.emitted[0], recorded, "no further step")
            self._tally.take(False, found)
        elif place is not None and place + 1 < len(step.emitted):
            token = step.emitted[place]
            behind = len(step.emitted) - place - 1
            found = event(
                step, What.EMITTED, place, token, f"{behind} more behind it", "the last token"
            )
            self._tally.take(False, found)
        else:
            self._tally.take(True)
        if place is not None:
            self._ended[step.sequence] = step.emitted[place]

    def counts(self) -> Iterator[CheckCount]:
        yield self._tally.count()

    def findings(self) -> Iterator[ReplayFinding]:
        tally = self._tally
        if tally.differed:
            subject = counted(tally.differed, tally.agreed + tally.differed, "step")
            finding = Finding(
                "output-mismatch",
                Severity.ERROR,
                f"{subject} emit{'s' if tally.differed == 1 else ''} tokens after the end of the "
                "sequence",
                notes=("plain decoding stops at the end token",),
            )
            yield ReplayFinding(finding, tuple(tally.events))
