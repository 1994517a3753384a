"""One step of a known wrong rule: the rows it may read and the decisions it may take, all exact."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

from specdist.audit.tables import Law, Table, Tokens
from specdist.audit.tree import Session

Change = Callable[[Law], Law]
"""From a row to the row that is used in its place."""


class UndefinedLawError(Exception):
    """A token is drawn from weights that are all 0: what code makes of it is its own affair."""


def unchanged(row: Law) -> Law:
    """The row itself."""
    return row


class Rows:
    """The rows after a context along the draft tokens of one step.

    ``target(i)`` and ``draft(i)`` are the rows that the test uses at position i, ``target(gamma)``
    being the bonus row. Draft tokens are drawn when they are first asked for, each from its draft
    row through ``drafted_as``. A stale cache is a context of its own for a side.
    """

    def __init__(
        self, session: Session, table: Table, context: Tokens, gamma: int, bonus: bool = True
    ) -> None:
        self.session, self.table, self.context = session, table, context
        self.gamma, self.bonus = gamma, bonus
        self.target_context = self.draft_context = context
        self.drafted_as: Change = unchanged
        self.target_as: Change = unchanged
        self.tested_as: Change = unchanged
        self._tokens: list[int] = []

    def tokens(self, count: int) -> Tokens:
        """The first ``count`` draft tokens."""
        while len(self._tokens) < count:  # drawn in order, each after those before it
            prefix = self.draft_context + tuple(self._tokens)
            self._tokens.append(self.draw(self.drafted_as(self.table.draft(prefix))))
        return tuple(self._tokens[:count])

    def token(self, i: int) -> int:
        """The draft token at position i."""
        return self.tokens(i + 1)[i]

    def target(self, i: int) -> Law:
        """The target row after i draft tokens."""
        return self.target_as(self.table.target(self.target_context + self.tokens(i)))

    def draft(self, i: int) -> Law:
        """The draft row after i draft tokens, as the test has it."""
        return self.tested_as(self.table.draft(self.draft_context + self.tokens(i)))

    def law(self, weights: Law) -> Law:
        """The law in proportion to weights: a token to be drawn from it. Raises UndefinedLawError
        where all weights are 0."""
        total = sum(weights)
        if not total:
            raise UndefinedLawError
        return weights if total == 1 else tuple(weight / total for weight in weights)

    def draw(self, weights: Law) -> int:
        """A token from `law`, decided here."""
        return self.session.choose("a token", self.law(weights))

    def coin(self, share: Fraction) -> bool:
        """True with this probability, capped at 1."""
        if share >= 1 or share <= 0:
            return share > 0
        return self.session.choose("a coin", (share, 1 - share)) == 0

    def unit(self) -> Unit:
        """A fresh number of [0, 1), to be used more than once."""
        return Unit(self.session)


class Unit:
    """A uniform real number of [0, 1): every question narrows the interval it is known to be in,
    so what is decided by one number is dependent in the right way."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._least, self._most = Fraction(0), Fraction(1)

    def below(self, bound: Fraction) -> bool:
        """Whether the number is below ``bound``."""
        if bound <= self._least or bound >= self._most:
            return bound >= self._most
        mass = (bound - self._least) / (self._most - self._least)
        if self._session.choose("a side of a number", (mass, 1 - mass)) == 0:
            self._most = bound
            return True
        self._least = bound
        return False

    def index(self, weights: Sequence[Fraction]) -> int:
        """The token in whose interval of the cumulated weights the number lies."""
        total = sum(weights, Fraction(0))
        if not total:
            raise UndefinedLawError
        end = Fraction(0)
        for token, weight in enumerate(weights):
            end += weight / total
            if weight and self.below(end):
                return token
        raise AssertionError("the cumulated weights end at 1")


Emitted = int | Law
"""A token, or the law of one that the step does not look at: nothing is decided before it must."""
Step = Callable[[Rows], Iterator[Emitted]]
"""One step: yields what it emits, one token after the other."""


Alike = Callable[[int], object]
"""From a number of tokens to a key: faults of one name and one key have the same law of so many
first tokens, on the table that they were made for."""


@dataclass(frozen=True)
class Fault:
    """A wrong rule: ``name`` is a short sentence of the field, ``begin`` makes the step of a run;
    ``stateful`` where steps of one run share what they draw or cache, the first being right."""

    name: str
    begin: Callable[[], Step]
    stateful: bool = False
    alike: Alike | None = None


def stateless(name: str, step: Step, alike: Alike | None = None) -> Fault:
    """A fault that lies in each step by itself."""
    return Fault(name, lambda: step, alike=alike)
