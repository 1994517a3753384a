"""The recorded probabilities of tested tokens against those of their rows.

A target probability that is not that of its row means another row, another processing, or other
settings than those stated. A draft probability that is not that of its row means that the draft
was processed otherwise: what was tested is then the recorded law, and every statement that needs
the whole draft law (the residual, a drafted token) is withdrawn.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from specdist.exact.interval import Interval
from specdist.model.finding import Finding, Severity
from specdist.model.replay_report import CheckCount, ReplayFinding, What
from specdist.model.role import Role
from specdist.verify.replay.known_law import unit_of
from specdist.verify.replay.step_laws import StepLaws, agreed
from specdist.verify.replay.tally import Tally, event
from specdist.verify.replay.wording import counted, decimal, interval_words

_HALF_ULP = 1
"""A recorded number may have been rounded once more on its way into the file."""


class TestedValues:
    """The check of recorded probabilities. ``sides`` are their tallies."""

    def __init__(self) -> None:
        self.target = Tally("recorded target probabilities")
        self.draft = Tally("recorded draft probabilities")
        self._telling = 0

    def add(self, laws: StepLaws) -> None:
        step = laws.step
        self._side(laws, Role.ACCEPT_TARGET, step.tested_target, self.target)
        if Role.ACCEPT_DRAFT not in laws.one_hot:
            self._side(laws, Role.ACCEPT_DRAFT, step.tested_draft, self.draft)

    def _side(
        self, laws: StepLaws, role: Role, values: tuple[Fraction, ...] | None, tally: Tally
    ) -> None:
        step = laws.step
        if values is None:
            if step.target_rows:
                tally.skip("not recorded", step.tests)
            return
        for position, value in enumerate(values):
            known = laws.of(role, position)
            token = step.drafted[position]
            if known is None:
                tally.skip("no rows")
                continue
            spans = [law.probability(token) for law in known]
            answers = [_fits(value, span, laws) for span in spans]
            answer = True if True in answers else agreed(answers)
            found = event(
                step,
                What.TESTED,
                position,
                token,
                decimal(value),
                interval_words(spans[0]) if spans else "",
                spans[0] if spans else None,
            )
            tally.take(answer, found)
            # Probabilities 0 and 1 agree under many settings.
            self._telling += answer is True and tally is self.target and 0 < value < 1

    @property
    def other_draft(self) -> bool:
        """Whether the rows of the draft are not what was tested."""
        return self.draft.differed > 0

    @property
    def other_target(self) -> bool:
        """Whether no recorded target probability that tells anything is that of its row."""
        return self.target.differed > 0 and not self._telling

    def counts(self) -> Iterator[CheckCount]:
        for tally in (self.target, self.draft):
            if tally.agreed or tally.differed or tally.undecided:
                yield tally.count()

    def findings(self) -> Iterator[ReplayFinding]:
        target, draft = self.target, self.draft
        if target.differed:
            yield ReplayFinding(self._of_target(), tuple(target.events))
        if draft.differed:
            subject = counted(
                draft.differed, draft.agreed + draft.differed, "recorded draft probability"
            ).replace("probabilitys", "probabilities")
            finding = Finding(
                "configuration-needed",
                Severity.NOTE,
                f"{subject} are not those of the draft's rows",
                notes=(
                    "the draft was processed otherwise than its settings say; a rule that draws "
                    "from and tests with one law stays lossless whatever that law is",
                    "decisions follow the recorded probabilities; residuals and drafted tokens, "
                    "which need the whole law, are not checked",
                    "transformers warps the assistant's logits twice: --engine transformers, or "
                    "the rows that its verifying function got (spec_inputs.npz)",
                ),
            )
            yield ReplayFinding(finding, tuple(draft.events))

    def _of_target(self) -> Finding:
        tally = self.target
        subject = counted(
            tally.differed, tally.agreed + tally.differed, "recorded target probability"
        ).replace("probabilitys", "probabilities")
        if self.other_target:
            return Finding(
                "configuration-needed",
                Severity.WARNING,
                f"{subject} are not those of the target's rows",
                notes=(
                    "none agrees: stage, temperature or cut of the rows are not what is stated "
                    "here (--stage, -T, --top-p, ...), or the engine used others",
                    "what needs the target's whole law is not checked",
                ),
            )
        return Finding(
            "target-mismatch",
            Severity.ERROR,
            f"{subject} are not those of the target's rows",
            notes=("others agree, so the settings fit: the test read another row or law",),
        )


def _fits(value: Fraction, span: Interval, laws: StepLaws) -> bool | None:
    """Whether a recorded number may be one of ``span``."""
    wide = _HALF_ULP * unit_of(laws.conventions.arithmetic) * value
    return span.least <= value + wide and span.most >= value - wide
