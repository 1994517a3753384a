"""Rows that are read at a wrong place: another position, another token's id, the wrong context.

P(i) is the target row after i draft tokens, Q(i) the draft row there; P(gamma) is the bonus row.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

from specdist.audit.known_faults.rows import Fault, Rows, stateless
from specdist.audit.known_faults.token_chain import (
    Recovery,
    Test,
    TokenChain,
    bonus_row,
    positive,
    quotient,
    residual,
)
from specdist.audit.tables import Law

Place = Callable[[Rows, int], int]
"""At which position a row is read, for position i of a step."""


def here(rows: Rows, i: int) -> int:
    """i."""
    return i


def first(rows: Rows, i: int) -> int:
    """0."""
    return 0


def following(rows: Rows, i: int) -> int:
    """i + 1, as far as there is one."""
    return min(i + 1, rows.gamma)


def before(rows: Rows, i: int) -> int:
    """i - 1, as far as there is one."""
    return max(i - 1, 0)


def last(rows: Rows, i: int) -> int:
    """gamma, the bonus row."""
    return rows.gamma


def rows_at(target: Place, draft: Place) -> Callable[[Rows, int], tuple[Law, Law]]:
    """The two rows at their places; drafts have no row at gamma, so their last one is read."""

    def read(rows: Rows, i: int) -> tuple[Law, Law]:
        at = min(draft(rows, i), rows.gamma - 1)
        return rows.target(target(rows, i)), rows.draft(at)

    return read


def residual_at(target: Place, draft: Place) -> Recovery:
    """max(P - Q, 0) of the rows at these places."""
    read = rows_at(target, draft)
    return lambda rows, i: positive(*read(rows, i))


def ratio_at(target: Place, draft: Place) -> Test:
    """min(1, P(x)/Q(x)) of the rows at these places."""
    read = rows_at(target, draft)

    def accept(rows: Rows, i: int) -> Fraction:
        above, below = read(rows, i)
        return quotient(above[rows.token(i)], below[rows.token(i)])

    return accept


def target_at(place: Place) -> Recovery:
    """P at a place."""
    return lambda rows, i: rows.target(place(rows, i))


def turned(by: int) -> Callable[[Law], Law]:
    """The row with every token's mass at the id that is ``by`` further."""
    return lambda row: tuple(row[(y - by) % len(row)] for y in range(len(row)))


def _recovers(name: str, recover: Recovery) -> Fault:
    return stateless(name, TokenChain(recover=recover))


def _tests(name: str, target: Place, draft: Place, bonus: Recovery = bonus_row) -> Fault:
    chain = TokenChain(ratio_at(target, draft), residual_at(target, draft), bonus)
    return stateless(name, chain)


RECOVERED_ELSEWHERE = (
    _recovers("recovered token from row 0", residual_at(first, first)),
    _recovers("recovered token from the next row", residual_at(following, following)),
    _recovers("recovered token from the row before", residual_at(before, before)),
    _recovers("recovered token from the last row", residual_at(last, last)),
    _recovers("residual takes the target's row 0", residual_at(first, here)),
    _recovers("residual takes the target's next row", residual_at(following, here)),
    _recovers("residual takes the target's row before", residual_at(before, here)),
    _recovers("residual takes the bonus row for its target", residual_at(last, here)),
    _recovers("residual takes the draft's row 0", residual_at(here, first)),
    _recovers("residual takes the draft's next row", residual_at(here, following)),
    _recovers("residual takes the draft's row before", residual_at(here, before)),
    _recovers("residual takes the draft's last row", residual_at(here, last)),
    _recovers("recovered token from the bonus row", target_at(last)),
    _recovers("recovered token from the target's next row", target_at(following)),
    _recovers("recovered token from the target's row 0", target_at(first)),
)
TESTED_ELSEWHERE = (
    _tests("target rows shifted: each token is tested with the next row", following, here),
    _tests("target rows shifted: each token is tested with the row before", before, here,
           target_at(lambda rows, i: i - 1)),
    _tests("every token is tested with the target's row 0", first, here),
    _tests("every token is tested with the target's last row", last, here),
    _tests("draft rows shifted: each token is tested with the next row", here, following),
    _tests("draft rows shifted: each token is tested with the row before", here, before),
    _tests("every token is tested with the draft's row 0", here, first),
    _tests("every token is tested with the draft's last row", here, last),
    _tests("every token is tested with row 0 of both models", first, first),
    stateless("the test alone takes the target's next row",
              TokenChain(ratio_at(following, here), residual)),
    stateless("the test alone takes the draft's next row",
              TokenChain(ratio_at(here, following), residual)),
    stateless("the test alone takes row 0 of both models",
              TokenChain(ratio_at(first, first), residual)),
)  # fmt: skip


def turned_drafts(by: int) -> tuple[Fault, ...]:
    """Draft rows whose ids are off, in the test and residual, or in one of them."""
    whole = TokenChain(tested=turned(by))

    def own(rows: Rows, i: int) -> Law:
        rows.tested_as = turned(0)
        row = positive(rows.target(i), rows.draft(i))
        rows.tested_as = turned(by)
        return row

    return (
        stateless("draft row read at another token's id", whole),
        stateless("the test reads the draft row at another token's id",
                  replace(whole, recover=own)),
    )  # fmt: skip


def turned_targets(by: int) -> Fault:
    """Target rows whose ids are off."""
    return stateless("target row read at another token's id", TokenChain(target=turned(by)))
