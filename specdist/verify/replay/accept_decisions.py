"""Every accept decision against what its probabilities and its uniform allow.

With target p(x), tested draft probability q(x) and uniform u, a draft token x is accepted iff
``u q(x) < p(x)`` (or ``u <= p(x) / q(x)``, rounded as the engine rounds the quotient). Where the
trace records p(x) and q(x) as they were used, they decide exactly; else the rows do, with the
engine's rounding as bound. Without u only the impossible can be told: an accepted token of target
probability 0, a rejected one whose acceptance is certain.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from specdist.exact.interval import Interval
from specdist.model.finding import Finding, Severity
from specdist.model.replay_report import CheckCount, Event, ReplayFinding, What
from specdist.model.role import Role
from specdist.model.row import NumberFormat
from specdist.model.trace import Conventions, TraceStep
from specdist.processing.number_rounding import rounded_to
from specdist.verify.replay.step_laws import Alignment, StepLaws, agreed, judged
from specdist.verify.replay.tally import Tally, event
from specdist.verify.replay.wording import counted, decimal, threshold_words

_ONE = Interval.of(1)
_NO_VALUES = "no rows and no recorded probabilities"


class AcceptDecisions:
    """The check of `wrong-decision` for accept tests."""

    def __init__(self) -> None:
        self._tally = Tally("accept decisions")
        self._by_rows = Tally("accept decisions by rows alone")

    def add(self, laws: StepLaws) -> None:
        step = laws.step
        for position in range(step.tests):
            pairs = used_pairs(laws, position)
            if not pairs:
                self._tally.skip(_NO_VALUES if pairs is None else "a cut within rounding")
                continue
            accepted = position < step.n_accepted
            uniform = uniform_of(step, position)
            answer = agreed(decided(*pair, uniform, accepted, laws.conventions) for pair in pairs)
            if uniform is None and answer is None:
                self._tally.skip("no uniform recorded, and either decision is possible")
                continue
            tally = self._tally if is_recorded(step, position) else self._by_rows
            wrong = answer is False
            tally.take(answer, _event(step, position, pairs, laws.conventions) if wrong else None)

    def withdraw(self, reason: str) -> None:
        """The rows are not the laws that were used: only recorded probabilities decide."""
        self._by_rows.withdraw(reason)

    @property
    def by_rows(self) -> int:
        """How many decisions contradict their rows."""
        return self._by_rows.differed

    def counts(self) -> Iterator[CheckCount]:
        yield self._whole().count()

    def _whole(self) -> Tally:
        whole = Tally(self._tally.name)
        whole.absorb(self._tally)
        whole.absorb(self._by_rows)
        return whole

    def findings(self) -> Iterator[ReplayFinding]:
        tally = self._whole()
        if not tally.differed:
            return
        subject = counted(tally.differed, tally.agreed + tally.differed, "accept decision")
        finding = Finding(
            "wrong-decision",
            Severity.ERROR,
            f"{subject} contradict{'s' if tally.differed == 1 else ''} the acceptance rule",
        )
        yield ReplayFinding(finding, tuple(tally.events))


def uniform_of(step: TraceStep, position: int) -> Fraction | None:
    """The uniform of an accept test, where it is recorded."""
    if step.u_accept is None or position >= len(step.u_accept):
        return None
    return step.u_accept[position]


def is_recorded(step: TraceStep, position: int) -> bool:
    """Whether the trace holds the probabilities that a test used."""
    values = (step.tested_target, step.tested_draft)
    return all(found is not None and position < len(found) for found in values)


def used_pairs(
    laws: StepLaws, position: int, alignment: Alignment | None = None
) -> list[tuple[Interval, Interval]] | None:
    """Target and tested probability of a tested token: as recorded, else from the rows, one pair
    for each law that may have been used; none where that cannot be told, None without either. With
    an ``alignment`` the rows alone count."""
    step = laws.step
    token = step.drafted[position]
    if alignment is None and step.tested_target is not None and position < len(step.tested_target):
        target = Interval.of(step.tested_target[position])
        if Role.ACCEPT_DRAFT in laws.one_hot:
            return [(target, _ONE)]
        if step.tested_draft is not None and position < len(step.tested_draft):
            return [(target, Interval.of(step.tested_draft[position]))]
    moved = Alignment() if alignment is None else alignment
    targets = laws.of(Role.ACCEPT_TARGET, position, moved)
    if targets is None:
        return None
    if Role.ACCEPT_DRAFT in laws.one_hot:
        return [(law.probability(token), _ONE) for law in targets]
    drafts = laws.of(Role.ACCEPT_DRAFT, position, moved)
    if drafts is None:
        return None
    return judged(lambda p, q: (p.probability(token), q.probability(token)), targets, drafts)


def decided(
    target: Interval,
    draft: Interval,
    uniform: Fraction | None,
    accepted: bool,
    conventions: Conventions,
) -> bool | None:
    """Whether the decision is the one that the rule makes; None where that is left open."""
    if uniform is None:
        return _possible(target, draft, accepted, conventions.strict)
    accepts = _accepts(target, draft, uniform, conventions)
    return None if accepts is None else accepts is accepted


def _possible(target: Interval, draft: Interval, accepted: bool, strict: bool) -> bool | None:
    """False for a decision of probability 0, True for one of probability 1."""
    if target.most == 0:
        # With u <= p/q the uniform 0 accepts a token of probability 0.
        return not accepted if strict or not accepted else None
    if draft.most > 0 and target.least >= draft.most:
        return accepted
    return None


def _accepts(
    target: Interval, draft: Interval, uniform: Fraction, conventions: Conventions
) -> bool | None:
    if draft.most == 0 and target.most > 0:
        return None  # engines differ in p/0; that the token was drafted at all is found elsewhere
    if target.closed and draft.closed:
        return _accepts_exactly(target.least, draft.least, uniform, conventions)
    if conventions.strict:
        if uniform * draft.most < target.least:
            return True
        return False if uniform * draft.least >= target.most else None
    if draft.least > 0 and uniform * draft.most <= target.least:
        return True
    return False if uniform * draft.least > target.most else None


def _accepts_exactly(
    target: Fraction, draft: Fraction, uniform: Fraction, conventions: Conventions
) -> bool | None:
    """Both ways of computing it: without rounding, and with the product or quotient rounded."""
    if conventions.strict:
        exact = uniform * draft < target
        rounded = in_format(uniform * draft, conventions.arithmetic)
        other = exact if rounded is None else rounded < target
    elif not draft:
        return True if target else None
    else:
        quotient = target / draft
        exact = uniform <= quotient
        rounded = in_format(quotient, conventions.quotient or conventions.arithmetic)
        if conventions.quotient is not None and rounded is not None:
            return uniform <= rounded
        other = exact if rounded is None else uniform <= rounded
    return exact if exact is other else None


def in_format(value: Fraction, numbers: NumberFormat) -> Fraction | None:
    """``value`` rounded to a format; None where it becomes infinite."""
    if numbers in (NumberFormat.FLOAT64, NumberFormat.DECIMAL):
        return Fraction(float(value)) if abs(value) < 2**1000 else None
    return rounded_to(value, numbers)


def acceptance(target: Interval, draft: Interval) -> Interval | None:
    """The acceptance probability ``min(1, p / q)``; None where q may be 0."""
    if draft.least <= 0:
        return None
    one = Fraction(1)
    return Interval(min(target.least / draft.most, one), min(target.most / draft.least, one))


def _event(
    step: TraceStep,
    position: int,
    pairs: list[tuple[Interval, Interval]],
    conventions: Conventions,
) -> Event:
    target, draft = pairs[0]
    chance = acceptance(target, draft)
    uniform = uniform_of(step, position)
    word = "accepted" if position < step.n_accepted else "rejected"
    recorded = word if uniform is None else f"{word}, u = {decimal(uniform)}"
    possible = "draft probability 0" if chance is None else threshold_words(chance, conventions)
    return event(step, What.ACCEPT, position, step.drafted[position], recorded, possible, chance)
