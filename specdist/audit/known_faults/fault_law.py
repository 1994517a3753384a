"""The exact law of a known wrong rule on a table, for as many steps as the audited code did."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from specdist.audit.known_faults.rows import Fault, Rows, Step, UndefinedLawError
from specdist.audit.prefix_law import SequenceLaw, continued
from specdist.audit.tables import Law, Table, Tokens
from specdist.audit.tree import Session, leaves


@dataclass(frozen=True)
class Shape:
    """What one call of the adapter is. Without ``loop`` it is one step of ``gamma`` draft tokens,
    with or without a ``bonus``; otherwise it is a loop of steps that emits ``loop`` tokens, drafts
    being cut where they would go beyond it if ``clipped``."""

    steps: int
    gamma: int
    bonus: bool = True
    loop: int = 0
    clipped: bool = False

    def drafts(self, left: int) -> int:
        """How many draft tokens a step has, with ``left`` tokens to go in its loop."""
        return min(self.gamma, left - 1) if self.clipped else self.gamma


def fault_law(fault: Fault, table: Table, shape: Shape, length: int) -> SequenceLaw | None:
    """The law of the first ``length`` tokens, continued by the target; None where the fault has
    no law, because a token would be drawn from weights that are all 0."""
    try:
        emitted = emissions(fault, table, shape, length)
    except UndefinedLawError:
        return None
    return continued(emitted.items(), table.target, length)


def emissions(fault: Fault, table: Table, shape: Shape, limit: int) -> SequenceLaw:
    """The law of what is emitted, no more than ``limit`` tokens of it.

    Raises UndefinedLawError. Steps that share nothing are walked one by one, each from every
    context that the steps before it can come to.
    """
    if fault.stateful:
        return _walked(fault, table, shape, (), limit, range(shape.steps))
    emitted: SequenceLaw = {(): Fraction(1)}
    for number in range(shape.steps):
        further: SequenceLaw = {}
        for context, mass in emitted.items():
            if len(context) >= limit:
                further[context] = further.get(context, Fraction(0)) + mass
                continue
            law = _walked(fault, table, shape, context, limit, range(number, number + 1))
            for tokens, share in law.items():
                further[tokens] = further.get(tokens, Fraction(0)) + mass * share
        emitted = further
    return emitted


def _walked(
    fault: Fault, table: Table, shape: Shape, context: Tokens, limit: int, numbers: range
) -> SequenceLaw:
    """The law of what was emitted after the steps of these numbers, ``context`` before them."""

    def run(session: Session) -> tuple[Tokens, Law | None]:
        step, trail = fault.begin(), _Trail(session, context)
        for number in numbers:
            goal = (number + 1) * shape.loop if shape.loop else limit
            trail.extend(step, table, shape, goal, min(goal, limit))
        return trail.tokens, trail.last

    found: SequenceLaw = {}
    for leaf in leaves(run):
        tokens, last = leaf.outcome
        shares = [(tokens, Fraction(1))]
        if last is not None:
            shares = [((*tokens, y), share) for y, share in enumerate(last) if share]
        for ended, share in shares:
            found[ended] = found.get(ended, Fraction(0)) + leaf.mass * share
    return found


class _Trail:
    """What one run has emitted. A token of which only the law is known is ``last``; it is decided
    when something follows it, and never where nothing does, which saves most of the leaves."""

    def __init__(self, session: Session, context: Tokens) -> None:
        self._session, self.tokens = session, context
        self.last: Law | None = None

    def __len__(self) -> int:
        return len(self.tokens) + (self.last is not None)

    def extend(self, step: Step, table: Table, shape: Shape, goal: int, stop: int) -> None:
        """One call of the adapter, which goes up to ``goal`` if it is a loop; looked at up to
        ``stop`` tokens."""
        while len(self) < stop:
            self._decide()
            drafts = shape.drafts(goal - len(self))
            rows = Rows(self._session, table, self.tokens, drafts, shape.bonus)
            for emitted in step(rows) if drafts else (table.target(self.tokens),):
                self._decide()
                if isinstance(emitted, int):
                    self.tokens += (emitted,)
                else:
                    self.last = emitted
                if len(self) >= stop:
                    return
            if not shape.loop:
                return

    def _decide(self) -> None:
        if self.last is not None:
            self.tokens += (self._session.choose("a token", self.last),)
            self.last = None
