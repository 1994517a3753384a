"""How much work closed forms may cost: counted in terms touched, so the limit is deterministic.

Sums multiply out to a number of terms that grows with every denominator they bring together.
A block under `work_limit` raises `SymbolicBudgetError` instead of running for minutes.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from specdist.errors import SpecdistError

MAX_PRODUCTS = 2_000_000
MAX_WORK = 5_000_000

_left: ContextVar[list[int] | None] = ContextVar("symbolic work left", default=None)


class SymbolicBudgetError(SpecdistError):
    """A closed form too large to build, or a question not settled by the largest precision."""

    ident = "undecided-budget"


@contextmanager
def work_limit(terms: int = MAX_WORK) -> Iterator[None]:
    """At most about ``terms`` term operations inside the block."""
    token = _left.set([terms])
    try:
        yield
    finally:
        _left.reset(token)


def charge(terms: int, *, product: bool = False) -> None:
    """Counts work; raises SymbolicBudgetError once the limit is passed."""
    left = _left.get()
    if left is not None:
        left[0] -= terms
    if (left is not None and left[0] < 0) or (product and terms > MAX_PRODUCTS):
        raise SymbolicBudgetError(
            "the closed forms of this position are too long to multiply out",
            expected=f"at most {MAX_WORK} operations on terms",
            advice="check the row without --symbolic, or keep fewer tokens",
        )
