"""Random numbers that are used twice, or that do not change: every formula right, the law wrong.

Numbers that are reused are `Unit`s: one real number of [0, 1) whose interval every decision
narrows, so dependence is exact.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from specdist.audit.known_faults.rows import Emitted, Fault, Rows, Step, Unit, stateless
from specdist.audit.known_faults.token_chain import TokenChain, positive, ratio, residual
from specdist.audit.tables import Law, Tokens


def across_positions(rows: Rows) -> Iterator[Emitted]:
    """One number tests all positions of a step."""
    shared = rows.unit()
    return TokenChain(lambda r, i: _decided(shared, ratio(r, i)))(rows)


def _decided(number: Unit, share: Fraction) -> Fraction:
    """A test whose number is known: 1 or 0."""
    return Fraction(number.below(share))


def across_steps() -> Step:
    """The test at position i has the same number in every step of a run."""
    numbers: dict[int, Unit] = {}

    def accept(rows: Rows, i: int) -> Fraction:
        return _decided(numbers.setdefault(i, rows.unit()), ratio(rows, i))

    return TokenChain(accept)


def in_all_tests() -> Step:
    """One number for every test of a run."""
    numbers: dict[int, Unit] = {}

    def accept(rows: Rows, i: int) -> Fraction:
        return _decided(numbers.setdefault(0, rows.unit()), ratio(rows, i))

    return TokenChain(accept)


def recovered_with_test(rows: Rows) -> Iterator[Emitted]:
    """The number that rejects is looked up in the distribution function of the residual."""
    for i in range(rows.gamma):
        number = rows.unit()
        if not number.below(ratio(rows, i)):
            yield number.index(residual(rows, i))
            return
        yield rows.token(i)
    yield from _bonus(rows)


def recovered_across_steps() -> Step:
    """The recovered token of every step is looked up with the same number."""
    numbers: dict[int, Unit] = {}

    def step(rows: Rows) -> Iterator[Emitted]:
        number = numbers.setdefault(0, rows.unit())
        for i in range(rows.gamma):
            if not rows.coin(ratio(rows, i)):
                yield number.index(residual(rows, i))
                return
            yield rows.token(i)
        yield from _bonus(rows)

    return step


def drawn_by_lookup(test_with_draft: bool, recover_with_draft: bool) -> Step:
    """The draft token is looked up with a number that the test or the recovery uses again."""

    def step(rows: Rows) -> Iterator[Emitted]:
        drafted: list[int] = []
        for _ in range(rows.gamma):
            number = rows.unit()
            prefix = rows.context + tuple(drafted)
            target, draft = rows.table.target(prefix), rows.table.draft(prefix)
            token = number.index(draft)
            share = min(Fraction(1), target[token] / draft[token])
            if not (number if test_with_draft else rows.unit()).below(share):
                again = number if recover_with_draft else rows.unit()
                yield again.index(positive(target, draft))
                return
            drafted.append(token)
            yield token
        if rows.bonus:
            yield rows.law(rows.table.target(rows.context + tuple(drafted)))

    return step


class Reseeded:
    """A stream of numbers that begins anew in every step: the n-th number of each step is the same.

    ``drafts``, ``tests`` and ``last`` say which draws come from it. ``at_once``: all numbers of the
    tests are drawn before the first, so that the recovered token's is always the same one.
    """

    def __init__(self, drafts: bool, tests: bool, last: bool, at_once: bool = False) -> None:
        self._drafts, self._tests, self._last, self._at_once = drafts, tests, last, at_once
        self._numbers: list[Unit] = []

    def _number(self, rows: Rows, at: int, from_stream: bool) -> Unit:
        if not from_stream:
            return rows.unit()
        while len(self._numbers) <= at:
            self._numbers.append(rows.unit())
        return self._numbers[at]

    def __call__(self, rows: Rows) -> Iterator[Emitted]:
        """One step. The stream gives the drafts' numbers first, then those of the tests, then that
        of the recovered token or the bonus; numbers cost nothing before they are asked."""
        drafted: Tokens = ()
        tests = rows.gamma * self._drafts
        for i in range(rows.gamma):
            prefix = rows.context + drafted
            target, draft = rows.table.target(prefix), rows.table.draft(prefix)
            token = self._number(rows, i, self._drafts).index(draft)
            number = self._number(rows, tests + i, self._tests)
            if not number.below(target[token] / draft[token]):
                tested = (rows.gamma if self._at_once else i + 1) * self._tests
                yield self._number(rows, tests + tested, self._last).index(positive(target, draft))
                return
            yield token
            drafted += (token,)
        if rows.bonus:
            at = tests + rows.gamma * self._tests
            yield self._number(rows, at, self._last).index(
                rows.table.target(rows.context + drafted)
            )


def _bonus(rows: Rows) -> Iterator[Emitted]:
    if rows.bonus:
        yield rows.law(rows.target(rows.gamma))


def raced_again(draft: Law, weights: Law, token: int) -> Law:
    """The law of argmin E/weights over the other tokens, given that argmin E/draft was ``token``.

    With E the same standard exponentials, E_j = draft_j T + E'_j for j not the token, T and E'_j
    independent standard exponentials. Token j enters the second race at time c_j T, with
    c_j = draft_j/weights_j, and its clock runs at the rate weights_j.
    """
    runners = sorted(
        (draft[j] / weight, j) for j, weight in enumerate(weights) if weight and j != token
    )
    law = [Fraction(0)] * len(weights)
    rate = shift = Fraction(0)
    for place, (start, j) in enumerate(runners):
        rate += weights[j]
        shift += weights[j] * start
        part = 1 / (1 + rate * start - shift)
        if place + 1 < len(runners):
            part -= 1 / (1 + rate * runners[place + 1][0] - shift)
        for _, k in runners[: place + 1]:
            law[k] += weights[k] / rate * part
    return tuple(law)


def _raced(rows: Rows, i: int) -> Law:
    return raced_again(rows.draft(i), residual(rows, i), rows.token(i))


RANDOMNESS = (
    stateless("reuses its uniform across positions", across_positions),
    Fault("reuses its uniforms across steps", across_steps, stateful=True),
    Fault("uses one uniform for all tests of all steps", in_all_tests, stateful=True),
    stateless("draws the recovered token with the uniform of the test", recovered_with_test),
    Fault("reuses the recovered token's uniform across steps", recovered_across_steps, True),
    stateless("tests with the uniform that drew the draft token", drawn_by_lookup(True, False)),
    stateless("draws the recovered token with the uniform that drew the draft token",
              drawn_by_lookup(False, True)),
    stateless("draws draft, test and recovered token with one uniform (reseeded before each)",
              drawn_by_lookup(True, True)),
    stateless("one vector of noise for the draft and the recovered token",
              TokenChain(recover=_raced)),
    Fault("reseeds its drafts in every step", lambda: Reseeded(True, False, False), True),
    Fault("reseeds its tests and its recovered token in every step",
          lambda: Reseeded(False, True, True), True),
    Fault("reseeds in every step", lambda: Reseeded(True, True, True), True),
    Fault("reseeds in every step (numbers of all tests drawn at once)",
          lambda: Reseeded(True, True, True, at_once=True), True),
)  # fmt: skip
