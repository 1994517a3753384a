"""Wrong bonus tokens. P(i) is the target row after i draft tokens, Q(i) the draft row."""

from __future__ import annotations

from collections.abc import Iterator

from specdist.audit.known_faults.acceptance import from_draft, target_top
from specdist.audit.known_faults.recovery import uniform
from specdist.audit.known_faults.row_places import residual_at
from specdist.audit.known_faults.rows import Change, Emitted, Fault, Rows, stateless
from specdist.audit.known_faults.token_chain import Recovery, TokenChain, ratio, residual
from specdist.audit.tables import Law


def changed(change: Change) -> Recovery:
    """P(gamma), changed."""
    return lambda rows, i: change(rows.target(i))


def last_position(rows: Rows, i: int) -> Law:
    """P(gamma - 1)."""
    return rows.target(i - 1)


def first_position(rows: Rows, i: int) -> Law:
    """P(0)."""
    return rows.target(0)


def last_draft_position(rows: Rows, i: int) -> Law:
    """Q(gamma - 1)."""
    return rows.draft(i - 1)


def of_bonus(name: str, bonus: Recovery) -> Fault:
    """The token rule with another bonus."""
    return stateless(name, TokenChain(bonus=bonus))


def after_rejection(rows: Rows) -> Iterator[Emitted]:
    """The bonus, drawn after all draft tokens, is appended whatever was rejected."""
    for i in range(rows.gamma):
        if not rows.coin(ratio(rows, i)):
            yield rows.law(residual(rows, i))
            break
        yield rows.token(i)
    yield rows.law(rows.target(rows.gamma))


BONUS = (
    of_bonus("bonus drawn from the draft", from_draft),
    of_bonus("bonus from the last draft token's row", last_position),
    of_bonus("bonus from row 0", first_position),
    of_bonus("bonus from the draft's last row", last_draft_position),
    of_bonus("bonus is the target's argmax (temperature 0)", target_top),
    of_bonus("bonus drawn uniformly", uniform),
    of_bonus("bonus from the residual (target - draft) of its row", residual),
    of_bonus("bonus from the residual of the last draft token",
             residual_at(lambda rows, i: i - 1, lambda rows, i: i - 1)),
    stateless("a bonus token follows a recovered token too", after_rejection),
)  # fmt: skip
