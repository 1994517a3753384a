"""The token rule with its parts to be put wrong: what is drafted, tested, recovered, and the bonus.

Draft x ~ q, accept with min(1, p(x)/q(x)), else a token of max(p - q, 0) normalised and the end;
after the last accepted token a bonus of the target (2211.17192, algorithm 1). Here p is the target
row of a position and q its draft row.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction

from specdist.audit.known_faults.rows import Change, Emitted, Rows, unchanged
from specdist.audit.tables import Law

Test = Callable[[Rows, int], Fraction]
Recovery = Callable[[Rows, int], Law]

ZERO, ONE = Fraction(0), Fraction(1)


def argmax(row: Law) -> int:
    """The token of the largest mass, the lowest where several have it."""
    return row.index(max(row))


def point(token: int, size: int) -> Law:
    """All mass on one token."""
    return tuple(ONE if y == token else ZERO for y in range(size))


def positive(left: Law, right: Law) -> Law:
    """max(left - right, 0), not normalised."""
    return tuple(max(a - b, ZERO) for a, b in zip(left, right, strict=True))


def without(row: Law, token: int) -> Law:
    """The row with one token taken out, not normalised."""
    return tuple(ZERO if y == token else mass for y, mass in enumerate(row))


def quotient(above: Fraction, below: Fraction) -> Fraction:
    """min(1, above/below) as float code has it: 1 for a positive number over 0, and 0/0 accepts
    nothing."""
    if not below:
        return ONE if above else ZERO
    return min(ONE, above / below)


def ratio(rows: Rows, i: int) -> Fraction:
    """min(1, target/draft) at the drafted token."""
    token = rows.token(i)
    return quotient(rows.target(i)[token], rows.draft(i)[token])


def residual(rows: Rows, i: int) -> Law:
    """max(target - draft, 0)."""
    return positive(rows.target(i), rows.draft(i))


def bonus_row(rows: Rows, i: int) -> Law:
    """The target row after all draft tokens."""
    return rows.target(i)


def accepted(rows: Rows) -> int:
    """How many draft tokens the right test accepts, up to its first rejection."""
    return next((i for i in range(rows.gamma) if not rows.coin(ratio(rows, i))), rows.gamma)


def ending(rows: Rows, count: int) -> tuple[Law, ...]:
    """The law of the token after ``count`` accepted ones: recovered, or the bonus where there is
    one."""
    if count < rows.gamma:
        return (rows.law(residual(rows, count)),)
    return (rows.target(count),) if rows.bonus else ()


@dataclass(frozen=True)
class TokenChain:
    """One step of the token rule. ``drafted`` changes the draft row for drawing, ``tested`` for
    the test and the residual, ``target`` the target row wherever it is read."""

    accept: Test = ratio
    recover: Recovery = residual
    bonus: Recovery = bonus_row
    drafted: Change = unchanged
    tested: Change = unchanged
    target: Change = unchanged

    def __call__(self, rows: Rows) -> Iterator[Emitted]:
        """Yields what the step emits."""
        rows.drafted_as, rows.tested_as, rows.target_as = self.drafted, self.tested, self.target
        for i in range(rows.gamma):
            if not rows.coin(self.accept(rows, i)):
                yield rows.law(self.recover(rows, i))
                return
            yield rows.token(i)
        if rows.bonus:
            yield rows.law(self.bonus(rows, rows.gamma))
