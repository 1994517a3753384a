"""The exact law of a known wrong rule on a table, for as many steps as the audited code did."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import islice

from specdist.audit.known_faults.rows import Fault, Rows, Step, UndefinedLawError
from specdist.audit.prefix_law import SequenceLaw, continued
from specdist.audit.tables import Table, Tokens
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

    def run(session: Session) -> Tokens:
        step, emitted = fault.begin(), context
        for number in numbers:
            goal = (number + 1) * shape.loop if shape.loop else limit
            tokens = _tokens(step, session, table, shape, emitted, goal)
            emitted += tuple(islice(tokens, max(min(goal, limit) - len(emitted), 0)))
        return emitted

    found: SequenceLaw = {}
    for leaf in leaves(run):
        found[leaf.outcome] = found.get(leaf.outcome, Fraction(0)) + leaf.mass
    return found


def _tokens(
    step: Step, session: Session, table: Table, shape: Shape, context: Tokens, goal: int
) -> Iterator[int]:
    """The tokens of one call of the adapter, which goes up to ``goal`` if it is a loop."""
    while True:
        drafts = shape.drafts(goal - len(context))
        if not drafts:
            yield Rows(session, table, context, 0).draw(table.target(context))
            return
        for token in step(Rows(session, table, context, drafts, shape.bonus)):
            context += (token,)
            yield token
        if not shape.loop:
            return
