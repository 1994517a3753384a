"""Runs of a probed program, each made once: what was asked and answered is kept and compared."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from specdist.audit.grid import FLOAT64, Grid
from specdist.audit.probe.completions import with_fixed
from specdist.audit.probe.questions import Answer, Completion, Question, Trace
from specdist.audit.refusals import BudgetError, NotAFunctionError
from specdist.audit.tree import Session

MOST_DRAWS = 2000
"""In one run. More are a loop that draws until it likes the answer."""


class SpentError(BudgetError):
    """The search came to no end within the budget: an undecided verdict, no error of the user."""


class ProbeSession(Session):
    """One run that is answered with concrete numbers."""

    probing = True

    def __init__(self, completion: Completion) -> None:
        super().__init__([])
        self._completion = completion
        self.questions: list[Question] = []
        self.answers: list[Answer] = []

    def choose(self, asked: str, masses: Sequence[Fraction]) -> int:
        """The branch taken. Raises ValueError for masses that are no law."""
        given = tuple(masses)
        if sum(given) != 1 or min(given) < 0:
            raise ValueError(f"the masses of {asked} are no law")
        if len(given) == 1:
            return 0
        answer = self._answered(Question(asked, masses=given))
        assert isinstance(answer, int)
        return answer

    def point(self, grid: object, asked: str) -> int:
        """The point of the grid that a uniform is."""
        assert isinstance(grid, Grid)
        answer = self._answered(Question(asked, grid=grid))
        assert isinstance(answer, int)
        return answer

    def noise(self, count: int, asked: str) -> tuple[float, ...]:
        """A row of standard exponentials. One alone is no race: it is -log(1 - u) of a uniform."""
        if count == 1:
            return (-math.log1p(-self.point(FLOAT64, asked) * 2.0**-FLOAT64.bits),)
        answer = self._answered(Question(asked, count=count))
        assert isinstance(answer, tuple)
        return answer

    def finished(self) -> None:
        """Raises BudgetError where the run asked for too much, even if it caught the error."""
        super().finished()
        if self._depth > MOST_DRAWS:
            raise _endless()

    def _answered(self, question: Question) -> Answer:
        if self._depth >= MOST_DRAWS:
            self._depth += 1
            raise _endless()
        answer = self._completion(len(self.questions), question)
        self.questions.append(question)
        self.answers.append(answer)
        self._depth += 1
        return answer


@dataclass(slots=True)
class _Known:
    """What is known after some answers: the next question, or the outcome of a run that ended."""

    question: Question | None = None
    ended: bool = False
    outcome: object = None
    after: dict[Answer, _Known] = field(default_factory=dict)


class Runs:
    """Runs a program at most once for the same answers."""

    def __init__(
        self,
        program: Callable[[Session], object],
        budget: int,
        told: Callable[[int], None] | None = None,
    ) -> None:
        self._program, self._budget, self._told = program, budget, told
        self._known = _Known()
        self.count = 0

    def run(self, fixed: Mapping[int, Answer], rest: Completion) -> Trace:
        """The run with these answers, remembered where it was made before."""
        completion = with_fixed(fixed, rest)
        return self._remembered(completion) or self.fresh(completion)

    def fresh(self, completion: Completion, keep: bool = True) -> Trace:
        """The run made now.

        Raises NotAFunctionError where it asks or does something else than an earlier run with the
        same answers, and SpentError beyond the budget.
        """
        if self.count >= self._budget:
            raise SpentError(
                f"more than {self._budget} runs of the audited code",
                expected="30 to 100 times the leaves of a traced audit, and the replays",
                advice="take fewer tokens, draft tokens or steps (--vocab, --gamma, --steps), or "
                "raise --budget",
            )
        self.count += 1
        session = ProbeSession(completion)
        outcome = self._program(session)
        session.finished()
        if self._told is not None:
            self._told(self.count)
        return self._compared(session, outcome, keep)

    def _remembered(self, completion: Completion) -> Trace | None:
        at = self._known
        questions: list[Question] = []
        answers: list[Answer] = []
        while at.question is not None:
            answer = completion(len(questions), at.question)
            questions.append(at.question)
            answers.append(answer)
            found = at.after.get(answer)
            if found is None:
                return None
            at = found
        return Trace(tuple(questions), tuple(answers), at.outcome) if at.ended else None

    def _compared(self, session: ProbeSession, outcome: object, keep: bool) -> Trace:
        at: _Known | None = self._known
        questions = list(session.questions)
        for i, answer in enumerate(session.answers):
            if at is None:
                break
            questions[i] = _same(at, session.questions[i], i)
            following = at.after.get(answer)
            if following is None and keep:
                following = at.after[answer] = _Known()
            at = following
        if at is not None:
            if at.question is not None:
                raise NotAFunctionError.of(at.question.asked, "nothing more", len(questions))
            if at.ended and at.outcome != outcome:
                raise differing(at.outcome, outcome, len(questions))
            at.ended, at.outcome = True, outcome
        return Trace(tuple(questions), tuple(session.answers), outcome)


def _same(at: _Known, question: Question, depth: int) -> Question:
    """The question that is known there: one object for equal ones, which compares at once."""
    if at.ended:
        raise NotAFunctionError.of("nothing more", question.asked, depth)
    if at.question is None:
        at.question = question
    if at.question != question:
        raise NotAFunctionError.of(at.question.asked, question.asked, depth)
    return at.question


def _endless() -> BudgetError:
    return BudgetError(
        f"a run draws more than {MOST_DRAWS} times",
        expected="runs that end, whatever they draw",
        advice="bound the loop that draws until it likes the answer, or audit a smaller part",
    )


def differing(before: object, now: object, depth: int) -> NotAFunctionError:
    """The error for one run made twice with two outcomes."""
    return NotAFunctionError(
        f"not a function of its draws: the same {depth} answers gave {_said(before)} and then "
        f"{_said(now)}",
        expected="every run begins in the same state and draws through what is intercepted",
        advice="look for a generator that is not followed, or for state between runs",
    )


def _said(outcome: object) -> str:
    return str(getattr(outcome, "error", "") or getattr(outcome, "tokens", outcome))
