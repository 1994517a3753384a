"""Candidates that are dropped, prefixes that are cut, and verification that goes on too long."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction

from specdist.audit.known_faults.draft_laws import PARTS, alike_rows
from specdist.audit.known_faults.rows import Emitted, Fault, Rows, Step, stateless
from specdist.audit.known_faults.token_chain import accepted, ending, ratio, residual
from specdist.audit.tables import Law, Table, Tokens


def dropping(least: Fraction) -> Step:
    """A draft token whose draft probability is below ``least`` is dropped, and the target draws its
    position."""

    def step(rows: Rows) -> Iterator[Emitted]:
        for i in range(rows.gamma):
            if rows.draft(i)[rows.token(i)] < least:
                yield rows.law(rows.target(i))
                return
            if not rows.coin(ratio(rows, i)):
                yield rows.law(residual(rows, i))
                return
            yield rows.token(i)
        if rows.bonus:
            yield rows.law(rows.target(rows.gamma))

    return step


def cutting(most: int) -> Step:
    """Accepted tokens beyond ``most`` are cut, and the target draws the position at the cut."""

    def step(rows: Rows) -> Iterator[Emitted]:
        kept = accepted(rows)
        yield from rows.tokens(min(kept, most))
        if kept > most:
            yield rows.law(rows.target(most))
        else:
            yield from ending(rows, kept)

    return step


def continuing(bonus_after_rejection: bool) -> Step:
    """After a rejection the next draft token is tested as if nothing had happened."""

    def step(rows: Rows) -> Iterator[Emitted]:
        rejected = False
        for i in range(rows.gamma):
            if rows.coin(ratio(rows, i)):
                yield rows.token(i)
            else:
                rejected = True
                yield rows.law(residual(rows, i))
        if rows.bonus and (bonus_after_rejection or not rejected):
            yield rows.law(rows.target(rows.gamma))

    return step


def counting_all(rows: Rows) -> Iterator[Emitted]:
    """As many draft tokens are emitted as tests pass, wherever the first failure is."""
    passed = sum(rows.coin(ratio(rows, i)) for i in range(rows.gamma))
    yield from rows.tokens(passed)
    yield from ending(rows, passed)


def one_too_many(recover_at_rejection: bool) -> Step:
    """The rejected draft token is emitted too, then a token of the residual of its row, or of the
    row after it."""

    def step(rows: Rows) -> Iterator[Emitted]:
        for i in range(rows.gamma):
            yield rows.token(i)
            if not rows.coin(ratio(rows, i)):
                if recover_at_rejection:
                    yield rows.law(residual(rows, i))
                elif i + 1 < rows.gamma:
                    yield rows.law(residual(rows, i + 1))
                else:
                    yield rows.law(rows.target(i + 1))
                return
        if rows.bonus:
            yield rows.law(rows.target(rows.gamma))

    return step


def one_too_few(from_target: bool) -> Step:
    """The last accepted token is dropped, and its position drawn again."""

    def step(rows: Rows) -> Iterator[Emitted]:
        passed = accepted(rows)
        kept = max(passed - 1, 0)
        yield from rows.tokens(kept)
        dropped = passed > kept
        yield rows.law(rows.target(kept) if dropped and from_target else residual(rows, kept))

    return step


LENGTHS: tuple[Fault, ...] = (
    stateless("continues after a rejection", continuing(True)),
    stateless("continues after a rejection (no bonus then)", continuing(False)),
    stateless("counts acceptances after the first rejection", counting_all),
    stateless("emits the rejected draft token, then recovers", one_too_many(True)),
    stateless("accepts one draft token too many", one_too_many(False)),
    stateless("drops the last accepted token and draws again from the target", one_too_few(True)),
    stateless("drops the last accepted token and draws again from the residual",
              one_too_few(False)),
)  # fmt: skip


def drops(table: Table) -> Iterator[Fault]:
    """Every threshold that makes a difference to rows of multiples of 1/64."""
    name = "drops a draft token because of its own probability, and draws from the target"
    for least in (Fraction(k, PARTS) for k in range(1, PARTS)):
        kept = alike_rows(_kept(table, least), table.vocab)
        yield stateless(name, dropping(least), kept)


def _kept(table: Table, least: Fraction) -> Callable[[Tokens], Law]:
    return lambda prefix: tuple(Fraction(mass >= least) for mass in table.draft(prefix))


def cuts_after_test(gamma: int) -> Iterator[Fault]:
    """Every length that accepted tokens can be cut to."""
    for most in range(gamma):
        yield stateless("cuts the accepted tokens and draws again from the target", cutting(most))
