"""Proposed tokens that were never submitted: allowed only where the token itself does not decide.

Dropping a sampled token is lossless when it depends on what came before it and on its row; when it
depends on the token, what is left is another law than was drafted from (engine semantics: a keep
rule). A trace cannot prove which it was. It is called a fault where no other way of dropping that
is known here explains the trace and an e-value, conditional on the rows, refutes that tokens are
dropped whatever they are; else the question is left to the user.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from specdist.model.finding import Finding, Severity
from specdist.model.replay_report import CheckCount, ReplayFinding, What
from specdist.model.role import Role
from specdist.model.trace_evidence import Evidence, Explanation
from specdist.verify.replay.step_laws import StepLaws
from specdist.verify.replay.tally import Tally, event
from specdist.verify.replay.wording import interval_words, plural

IDENT = "anticipating-length-rule"
_ENOUGH = 2.0
"""Decimal logarithm of the e-value from which on the dropped tokens count as looked at."""
_SUBJECT = "dropped"


class DroppedTokens:
    """Counts what was proposed, submitted and dropped."""

    def __init__(self) -> None:
        self._tally = Tally("proposed tokens submitted")
        self.dropped = Tally("dropped")

    def add(self, laws: StepLaws) -> None:
        step = laws.step
        if step.proposed is None:
            return
        submitted = len(step.drafted)
        self._tally.agreed += submitted
        for position, token in enumerate(step.proposed[submitted:], submitted):
            known = laws.of(Role.DRAFTED_FROM, position)
            chance = known[0].probability(token) if known else None
            shown = "" if chance is None else f"draft {interval_words(chance)}"
            found = event(step, What.DRAFT, position, token, f"dropped, {shown}", "submitted")
            self.dropped.take(False, found)
            self._tally.skip("dropped before verification")

    def counts(self) -> Iterator[CheckCount]:
        if self._tally.agreed or self._tally.unchecked:
            yield self._tally.count()

    def findings(self) -> Iterator[ReplayFinding]:
        return iter(())

    def judged(
        self, explanation: Explanation | None, evidence: Sequence[Evidence]
    ) -> ReplayFinding | None:
        """The finding about dropped tokens, once their causes are known."""
        if not self.dropped.differed:
            return None
        count = plural(self.dropped.differed, "proposed token")
        verb = "is" if self.dropped.differed == 1 else "are"
        value = next((one for one in evidence if one.subject == _SUBJECT), None)
        causes = explanation.causes if explanation is not None else ()
        by_token = bool(causes) and all(cause.ident == IDENT for cause in causes)
        if by_token and value is not None and value.log10 >= _ENOUGH:
            finding = Finding(
                IDENT,
                Severity.ERROR,
                f"{count} {verb} dropped before verification, by their own probability",
                notes=(
                    "every decision that is left is right; the tokens that reach the test follow "
                    "another law than they were drafted from",
                    f"e-value 10^{value.log10:.2f} over {value.observations} tokens, given their "
                    "rows: dropping that does not look at the token reaches "
                    f"10^{_ENOUGH:.0f} with probability 1/{10 ** int(_ENOUGH)} at most",
                ),
            )
            return ReplayFinding(finding, tuple(self.dropped.events))
        finding = Finding(
            "configuration-needed",
            Severity.WARNING,
            f"{count} {verb} dropped before verification, and nothing says by which rule",
            notes=(
                "lossless where the token itself does not decide (its position, its row, a "
                "budget); by the token's own probability it is not",
                "specdist check --keep RULE decides it for captured rows",
            ),
        )
        return ReplayFinding(finding, tuple(self.dropped.events))
