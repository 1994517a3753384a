"""What reaches the output: the accepted tokens and the final one, none that the target forbids.

Fewer tokens may reach it where an end token is among them, or at the end of a sequence. An accepted
token of target probability 0 is impossible whatever its uniform was: with ``u <= p/q`` the uniform
0 lets it pass.
"""

from __future__ import annotations

from collections.abc import Iterator

from specdist.model.finding import Finding, Severity
from specdist.model.replay_report import CheckCount, ReplayFinding, What
from specdist.model.role import Role
from specdist.model.trace import TraceStep
from specdist.verify.replay.step_laws import StepLaws
from specdist.verify.replay.tally import Tally, event
from specdist.verify.replay.wording import counted


class EmittedTokens:
    """The checks of `impossible-token`, and of tokens that were neither accepted nor drawn."""

    def __init__(self, end_tokens: tuple[int, ...]) -> None:
        self._ends = frozenset(end_tokens)
        self.possible = Tally("accepted tokens under the reference")
        self._emitted = Tally("emitted tokens")
        self._returned = Tally("returned tokens")
        self._short: dict[int, TraceStep] = {}
        self._cut = Tally("steps cut short")

    def add(self, laws: StepLaws) -> None:
        step = laws.step
        self._accepted(laws)
        self._output(step)

    def _accepted(self, laws: StepLaws) -> None:
        step = laws.step
        for position in range(step.n_accepted):
            token = step.drafted[position]
            known = laws.of(Role.REFERENCE, position)
            if not known:
                self._recorded(laws, position, token, known is None)
                continue
            chances = [law.probability(token) for law in known]
            forbidden = all(chance.most == 0 for chance in chances)
            found = event(step, What.ACCEPT, position, token, "accepted", "target probability 0")
            self.possible.take(not forbidden, found)

    def _recorded(self, laws: StepLaws, position: int, token: int, no_rows: bool) -> None:
        """The recorded target probability, where there is no row."""
        step = laws.step
        if step.tested_target is None or not no_rows:
            self.possible.skip("no rows" if no_rows else "a cut within rounding")
            return
        found = event(step, What.ACCEPT, position, token, "accepted", "target probability 0")
        self.possible.take(step.tested_target[position] > 0, found)

    def _output(self, step: TraceStep) -> None:
        before = self._short.pop(step.sequence, None)
        if before is not None:
            text = f"{len(before.emitted)} of {before.n_accepted + 1} tokens reach the output"
            self._cut.take(False, event(before, What.EMITTED, None, None, text, "all of them"))
        whole = (*step.drafted[: step.n_accepted], step.final_token)
        for place, token in enumerate(step.emitted):
            due = whole[place] if place < len(whole) else None
            if due is None and place == len(whole) - 1:
                self._emitted.skip("no final token recorded")
                continue
            expected = f"token {due}" if due is not None else "no further token"
            found = event(step, What.EMITTED, place, token, f"emitted {token}", expected)
            self._emitted.take(token == due, found)
        if step.returned is not None and step.final_token is not None:
            words = (f"{len(step.returned)} returned", f"{len(whole)}: the accepted, the final one")
            found = event(step, What.EMITTED, None, None, *words)
            self._returned.take(step.returned == whole, found)
        ended = bool(self._ends & set(step.emitted))
        if len(step.emitted) < len(whole) and not ended:
            self._short[step.sequence] = step

    def withdraw(self, reason: str) -> None:
        """The rows of the target are not the law that was used."""
        self.possible.withdraw(reason)

    def counts(self) -> Iterator[CheckCount]:
        yield self.possible.count()
        yield self._emitted.count()
        if self._returned.agreed or self._returned.differed:
            yield self._returned.count()

    def findings(self) -> Iterator[ReplayFinding]:
        possible, emitted = self.possible, self._emitted
        if possible.differed:
            subject = counted(
                possible.differed, possible.agreed + possible.differed, "accepted token"
            )
            finding = Finding(
                "impossible-token",
                Severity.ERROR,
                f"{subject} {'have' if possible.differed > 1 else 'has'} target probability 0",
                notes=("plain decoding with the target never emits such a token",),
            )
            yield ReplayFinding(finding, tuple(possible.events))
        if emitted.differed:
            subject = counted(emitted.differed, emitted.agreed + emitted.differed, "emitted token")
            finding = Finding(
                "output-mismatch",
                Severity.ERROR,
                f"{subject} {'are' if emitted.differed > 1 else 'is'} neither accepted nor the "
                "final token",
            )
            yield ReplayFinding(finding, tuple(emitted.events))
        if self._returned.differed:
            total = self._returned.agreed + self._returned.differed
            finding = Finding(
                "output-mismatch",
                Severity.ERROR,
                f"{counted(self._returned.differed, total, 'step')} return other tokens than the "
                "accepted and the final one",
            )
            yield ReplayFinding(finding, tuple(self._returned.events))
        if self._cut.differed:
            yield ReplayFinding(self._of_cuts(), tuple(self._cut.events))

    def _of_cuts(self) -> Finding:
        count = self._cut.differed
        steps = f"{count} step{'s' if count > 1 else ''}"
        return Finding(
            "configuration-needed",
            Severity.WARNING,
            f"{steps} emit fewer tokens than were verified, and the sequence goes on",
            notes=(
                "kept as the next tokens the verified ones are right; drawn again, the tokens at "
                "the cut follow another law: rejected rounds weigh too much",
            ),
        )
