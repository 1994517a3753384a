"""Which known wrong rules have the very law that was measured, on every table."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from specdist.audit.context import Setup
from specdist.audit.known_faults.draft_laws import top
from specdist.audit.known_faults.fault_law import Shape, emissions, fault_law
from specdist.audit.known_faults.registry import faults
from specdist.audit.known_faults.rows import Fault
from specdist.audit.judge import ROUNDING
from specdist.audit.measure import Measured
from specdist.audit.prefix_law import SequenceLaw, continued, marginal, target_law, total_variation
from specdist.audit.tables import Table

_MOST_SEQUENCES = 50_000


@dataclass(frozen=True)
class Observed:
    """The measured law of the first ``length`` tokens on a table, the longest output's length.
    ``bound`` is how far it may be from the true one: 0 in traced mode."""

    table: Table
    law: SequenceLaw
    length: int
    bound: Fraction = Fraction(0)

    @classmethod
    def of(cls, table: Table, found: Measured, bound: Fraction = Fraction(0)) -> Observed:
        """What was measured on a table; runs that raised have no tokens to be explained."""
        length = found.longest
        law = continued(found.emitted.items(), table.target, length)
        return cls(table, law, length, bound)

    @property
    def tolerance(self) -> Fraction:
        """Total variations up to this are no difference."""
        return ROUNDING + self.bound

    @property
    def differs(self) -> bool:
        """Whether the target's own law is another one."""
        reference = target_law(self.table.target, self.length)
        return total_variation(self.law, reference) > self.tolerance


def names_of(observed: Sequence[Observed], setup: Setup) -> tuple[str, ...]:
    """The known faults whose laws are those measured, on all tables, the plainest first.

    A fault is named only where it explains a difference: its law has to be within 2^-20 in total
    variation of every measured one, whether that differs from the target's or not. A table on which
    the fault has no law says nothing of it. Several names mean that no table tells them apart.
    Laws of more than 50,000 sequences are compared on their first tokens.
    """
    ordered = sorted(observed, key=lambda item: not item.differs)
    if not ordered or not ordered[0].differs:
        return ()
    begun: Begun = {}
    for shape, greedy in _shapes(ordered, setup):
        seen = [_greedy(item) for item in ordered] if greedy else ordered
        first = seen[0]
        found = [
            fault.name
            for fault in faults(first.law, first.table, setup)
            if _begins(fault, first, shape, greedy, begun) and _explains(fault, seen, shape)
        ]
        if found:
            return tuple(dict.fromkeys(found))
    return ()


def _greedy(item: Observed) -> Observed:
    """The same with drafts that are the draft's argmax, and known to be."""
    draft = item.table.draft
    return replace(item, table=replace(item.table, draft=lambda prefix: top(draft(prefix))))


def _shapes(observed: Sequence[Observed], setup: Setup) -> Iterator[tuple[Shape, bool]]:
    """What the adapter may be: single steps, or whole loops that emit a fixed number of tokens;
    with drafts that are sampled, or with one-hot ones."""
    length = max(item.length for item in observed)
    steps, gamma = setup.steps, setup.gamma
    shapes = [Shape(steps, gamma), Shape(steps, gamma, bonus=False)]
    loop = length // steps
    if loop * steps == length and loop > 1:
        shapes.append(Shape(steps, gamma, loop=loop, clipped=True))
        shapes.append(Shape(steps, gamma, loop=loop))
    return ((shape, greedy) for greedy in (False, True) for shape in shapes)


Begun = dict[tuple[str, object, int, bool], bool]


def _begins(fault: Fault, first: Observed, shape: Shape, greedy: bool, begun: Begun) -> bool:
    """Whether the law of the first token may be the fault's: asked once for all faults, and all
    shapes, that begin alike."""
    key = (fault.name, fault.begins, shape.drafts(shape.loop or shape.gamma + 1), greedy)
    if key not in begun:
        law = fault_law(fault, first.table, shape, 1)
        distance = total_variation(law, marginal(first.law, 1)) if law is not None else None
        begun[key] = distance is None or distance <= first.tolerance
    return begun[key]


def _explains(fault: Fault, observed: Sequence[Observed], shape: Shape) -> bool:
    """Whether the fault has every law that it has an opinion on, and a differing one among them."""
    explained = False
    for item in observed:
        same = _same(fault, item, shape)
        if same is False:
            return False
        explained = explained or (same is True and item.differs)
    return explained


def _same(fault: Fault, item: Observed, shape: Shape) -> bool | None:
    """Whether the two laws are one; None where the fault has none."""
    deepest = item.length
    while deepest > 1 and item.table.vocab**deepest > _MOST_SEQUENCES:
        deepest -= 1
    for length in range(1, deepest + 1):
        law = fault_law(fault, item.table, shape, length)
        if law is None:
            return None
        if total_variation(law, marginal(item.law, length)) > item.tolerance:
            return False
    if shape.loop or deepest < item.length:
        return True
    longest = emissions(fault, item.table, shape, item.length + 1)
    return max(map(len, longest)) == item.length
