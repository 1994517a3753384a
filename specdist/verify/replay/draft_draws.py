"""Every drafted token against the draft's law, and against its uniform where that is recorded."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from specdist.model.finding import Finding, Severity
from specdist.model.replay_report import CheckCount, ReplayFinding, What
from specdist.model.role import Role
from specdist.verify.replay.drawing import Drawn, drawn_words, is_drawn
from specdist.verify.replay.step_laws import StepLaws, agreed
from specdist.verify.replay.tally import Tally, event
from specdist.verify.replay.wording import counted, decimal

OTHER_LAW = "the recorded draft probabilities are not those of the rows"


class DraftDraws:
    """The check of drafted tokens: an impossible one is `drafted-mismatch`, one that its uniform
    does not draw is `wrong-decision`."""

    def __init__(self) -> None:
        self.tally = Tally("draft draws")
        self._impossible = Tally("impossible draft tokens")

    def add(self, laws: StepLaws) -> None:
        step = laws.step
        tokens = step.drafted if step.proposed is None else step.proposed
        for position, token in enumerate(tokens):
            known = laws.of(Role.DRAFTED_FROM, position)
            if not known:
                self.tally.skip("no rows" if known is None else "a cut within rounding")
                continue
            uniform = _uniform(laws, position)
            answers = [is_drawn(law.bounds, token, uniform, None) for law in known]
            drawn = [answer for answer in answers if answer is not Drawn.POSSIBLE]
            if not drawn and answers:
                self.tally.skip("no uniform recorded; the token is possible")
                continue
            answer = agreed(answer.holds for answer in answers)
            if answer is not False:
                self.tally.take(answer)
                continue
            recorded = "drafted" if uniform is None else f"u = {decimal(uniform)}"
            words = drawn_words(known[0].bounds, token, uniform)
            found = event(step, What.DRAFT, position, token, recorded, words)
            impossible = all(answer is Drawn.IMPOSSIBLE for answer in answers)
            self.tally.take(False, None if impossible else found)
            if impossible:
                self._impossible.take(False, found)

    def counts(self) -> Iterator[CheckCount]:
        yield self.tally.count()

    def withdraw(self) -> None:
        """The rows of the draft are not the law that was used."""
        self.tally.withdraw(OTHER_LAW)
        self._impossible.withdraw(OTHER_LAW)

    def findings(self) -> Iterator[ReplayFinding]:
        checked = self.tally.agreed + self.tally.differed
        impossible = self._impossible.differed
        if impossible:
            finding = Finding(
                "drafted-mismatch",
                Severity.ERROR,
                f"{counted(impossible, checked, 'drafted token')} cannot be drawn from the "
                "draft's law",
                notes=("their draft probability is 0: they were drawn from another law",),
            )
            yield ReplayFinding(finding, tuple(self._impossible.events))
        if self.tally.differed > impossible:
            finding = Finding(
                "wrong-decision",
                Severity.ERROR,
                f"{counted(self.tally.differed - impossible, checked, 'drafted token')} are not "
                "what their uniforms draw from the draft's law",
            )
            yield ReplayFinding(finding, tuple(self.tally.events))


def _uniform(laws: StepLaws, position: int) -> Fraction | None:
    uniforms = laws.step.u_draft
    if uniforms is None or not laws.conventions.inverse_cdf:
        return None
    return uniforms[position]
