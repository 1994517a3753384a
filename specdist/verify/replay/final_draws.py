"""The last token of every step: recovered from the residual, or drawn from the bonus row.

After a rejection at position n the token follows ``max(p_n - q_n, 0)``, normalised; after full
acceptance it follows the target's law of the bonus row. A recorded uniform (inverse CDF) or race of
exponentials decides the token; without them a token of no mass is still impossible.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import TYPE_CHECKING

from specdist.model.finding import Finding, Severity
from specdist.model.replay_report import CheckCount, Event, ReplayFinding, What
from specdist.model.role import Role
from specdist.verify.replay.draft_draws import OTHER_LAW
from specdist.verify.replay.drawing import Drawn, drawn_words, is_drawn
from specdist.verify.replay.known_law import KnownLaw
from specdist.verify.replay.step_laws import AS_STATED, Alignment, StepLaws, agreed, judged
from specdist.verify.replay.tally import Tally, event
from specdist.verify.replay.wording import counted, decimal

if TYPE_CHECKING:
    from specdist.exact.law_bounds import LawBounds

OTHER_TARGET = "the recorded target probabilities are not those of the rows"
_IDENTS = {True: "recovered-outside-residual", False: "impossible-token"}
_OUTSIDE = {
    True: ("recovered token", "have no residual mass"),
    False: ("bonus token", "have target probability 0"),
}


class FinalDraws:
    """The check of recovered and bonus tokens."""

    def __init__(self) -> None:
        self.recovered = Tally("recovered tokens")
        self.bonus = Tally("bonus tokens")
        self._supports = Tally("recorded supports of final laws")
        self._outside = {True: Tally("outside the residual"), False: Tally("outside the target")}

    def add(self, laws: StepLaws) -> None:
        step = laws.step
        tally = self.recovered if step.rejected else self.bonus
        if step.final_token is None:
            tally.skip("no final token recorded")
            return
        found = final_bounds(laws)
        if not found:
            tally.skip("no rows" if found is None else "a cut within rounding")
            return
        if None in found:
            tally.skip("the residual may be empty, and engines differ in what they emit")
            return
        self._support(laws, found)
        answers = [_drawn(laws, bounds) for bounds in found]
        if all(answer is Drawn.POSSIBLE for answer in answers):
            tally.skip("no random number recorded; the token is possible")
            return
        answer = agreed(a.holds for a in answers)
        if answer is not False:
            tally.take(answer)
            return
        impossible = all(a is Drawn.IMPOSSIBLE for a in answers)
        one = _event(laws, found[0])
        tally.take(False, None if impossible else one)
        if impossible:
            self._outside[step.rejected].take(False, one)

    def _support(self, laws: StepLaws, found: list[LawBounds | None]) -> None:
        """The number of possible tokens, where the trace records it."""
        recorded = laws.step.final_support
        if recorded is None:
            return
        spans = [(0, 0) if bounds is None else bounds.supports() for bounds in found]
        fits = any(least <= recorded <= most for least, most in spans)
        words = f"{recorded} tokens possible", " or ".join(f"{a} to {b}" for a, b in spans)
        what = What.RECOVERED if laws.step.rejected else What.BONUS
        one = event(laws.step, what, laws.step.n_accepted, None, *words)
        self._supports.take(fits, one)

    def withdraw_residuals(self) -> None:
        """The rows of the draft are not the law that was used."""
        self._withdraw(True, OTHER_LAW)

    def withdraw(self) -> None:
        """The rows of the target are not the law that was used."""
        self._withdraw(True, OTHER_TARGET)
        self._withdraw(False, OTHER_TARGET)

    def _withdraw(self, rejected: bool, reason: str) -> None:
        (self.recovered if rejected else self.bonus).withdraw(reason)
        self._supports.withdraw(reason)
        self._outside[rejected].withdraw(reason)

    def counts(self) -> Iterator[CheckCount]:
        yield self.recovered.count()
        yield self.bonus.count()
        if self._supports.agreed or self._supports.differed:
            yield self._supports.count()

    def findings(self) -> Iterator[ReplayFinding]:
        if self._supports.differed:
            total = self._supports.agreed + self._supports.differed
            finding = Finding(
                "wrong-decision",
                Severity.ERROR,
                f"{counted(self._supports.differed, total, 'final law')} had another number of "
                "possible tokens than its rows give",
            )
            yield ReplayFinding(finding, tuple(self._supports.events))
        for rejected, tally in ((True, self.recovered), (False, self.bonus)):
            checked = tally.agreed + tally.differed
            outside = self._outside[rejected]
            noun, words = _OUTSIDE[rejected]
            if outside.differed:
                verb = words if outside.differed > 1 else words.replace("have", "has")
                finding = Finding(
                    _IDENTS[rejected],
                    Severity.ERROR,
                    f"{counted(outside.differed, checked, noun)} {verb}",
                )
                yield ReplayFinding(finding, tuple(outside.events))
            others = tally.differed - outside.differed
            if others:
                law = "residual" if rejected else "bonus row"
                verb = "are" if others > 1 else "is"
                finding = Finding(
                    "wrong-decision",
                    Severity.ERROR,
                    f"{counted(others, checked, noun)} {verb} not what the recorded random number "
                    f"draws from the {law}",
                )
                yield ReplayFinding(finding, tuple(tally.events))


def final_bounds(laws: StepLaws, alignment: Alignment = AS_STATED) -> list[LawBounds | None] | None:
    """The laws that the final token may have been drawn from, None among them where a residual is
    surely empty; none where it cannot be told; None without rows."""
    step = laws.step
    position = step.n_accepted
    if not step.rejected:
        known = laws.of(Role.BONUS_FROM, len(step.drafted), alignment)
        return None if known is None else [law.bounds for law in known]
    targets = laws.of(Role.RESIDUAL_TARGET, position, alignment)
    if targets is None:
        return None
    if Role.RESIDUAL_DRAFT in laws.one_hot:
        token = step.drafted[position]
        return [law.bounds.without(token) for law in targets]
    drafts = laws.of(Role.RESIDUAL_DRAFT, position, alignment)
    if drafts is None:
        return None

    def residual(target: KnownLaw, draft: KnownLaw) -> LawBounds | None:
        return target.bounds.minus(draft.bounds)

    return judged(residual, targets, drafts)


def _uniform(laws: StepLaws) -> Fraction | None:
    return laws.step.u_final if laws.conventions.inverse_cdf else None


def _drawn(laws: StepLaws, bounds: LawBounds | None) -> Drawn:
    step = laws.step
    if step.final_token is None:
        raise ValueError("a step without a final token has no final draw")
    return is_drawn(bounds, step.final_token, _uniform(laws), step.final_noise)


def final_answer(laws: StepLaws, alignment: Alignment) -> bool | None:
    """Whether the final token is drawn under another alignment of the rows; None where that cannot
    be told."""
    if laws.step.final_token is None:
        return None
    found = final_bounds(laws, alignment)
    return agreed(_drawn(laws, bounds).holds for bounds in found or ())


def _event(laws: StepLaws, bounds: LawBounds | None) -> Event:
    step, uniform = laws.step, _uniform(laws)
    word = "recovered" if step.rejected else "bonus"
    recorded = word if uniform is None else f"u = {decimal(uniform)}"
    what = What.RECOVERED if step.rejected else What.BONUS
    token = step.final_token
    words = "" if token is None else drawn_words(bounds, token, uniform)
    return event(step, what, step.n_accepted, token, recorded, words)
