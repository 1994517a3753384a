"""Which known wrong rules have the very law that was measured, on every table."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property

from specdist.audit.context import Setup
from specdist.audit.judge import ROUNDING
from specdist.audit.known_faults.draft_laws import top
from specdist.audit.known_faults.fault_law import Shape, emissions, fault_law
from specdist.audit.known_faults.registry import faults
from specdist.audit.known_faults.rows import Fault, UndefinedLawError
from specdist.audit.measure import Measured
from specdist.audit.prefix_law import (
    SequenceLaw,
    continued,
    marginal,
    target_law,
    total_variation,
)
from specdist.audit.tables import Table

_MOST_SEQUENCES = 50_000
_FEW = 3
"""Laws of up to so many tokens are compared before the whole ones."""


@dataclass(frozen=True)
class Observed:
    """The measured law of the first ``length`` tokens on a table, the longest output's length.
    ``fixed``: every output has it. ``bound`` is how far the law may be from the true one: 0 in
    traced mode."""

    table: Table
    law: SequenceLaw
    length: int
    fixed: bool = False
    bound: Fraction = Fraction(0)

    @classmethod
    def of(cls, table: Table, found: Measured, bound: Fraction = Fraction(0)) -> Observed:
        """What was measured on a table; runs that raised have no tokens to be explained."""
        length = found.longest
        law = continued(found.emitted.items(), table.target, length)
        fixed = all(len(tokens) == length for tokens in found.emitted)
        return cls(table, law, length, fixed, bound)

    @property
    def tolerance(self) -> Fraction:
        """Total variations up to this are no difference."""
        return ROUNDING + self.bound

    @cached_property
    def differs(self) -> bool:
        """Whether the target's own law is another one."""
        reference = target_law(self.table.target, self.length)
        return total_variation(self.law, reference) > self.tolerance

    @cached_property
    def begins_right(self) -> bool:
        """Whether the law of the first token is the target's."""
        reference = target_law(self.table.target, 1)
        return total_variation(self.begun[1], reference) <= self.tolerance

    @cached_property
    def begun(self) -> list[SequenceLaw]:
        """The laws of the first 0, 1, 2, ... tokens, as far as they are compared."""
        laws = [self.law]
        for length in range(self.length - 1, -1, -1):
            laws.append(marginal(laws[-1], length))
        return [law for law in reversed(laws) if len(law) <= _MOST_SEQUENCES]


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
    for greedy in (False, True):
        seen = [_greedy(item) for item in ordered] if greedy else ordered
        for shape in _shapes(seen, setup):
            names = _Search(seen, shape, setup).names()
            if names:
                return names
    return ()


def _greedy(item: Observed) -> Observed:
    """The same with drafts that are the draft's argmax, and known to be."""
    draft = item.table.draft
    return replace(item, table=replace(item.table, draft=lambda prefix: top(draft(prefix))))


def _shapes(observed: Sequence[Observed], setup: Setup) -> Iterator[Shape]:
    """What a call of the adapter may be: a step, with or without a bonus, or a whole loop that
    emits a fixed number of tokens."""
    length = max(item.length for item in observed)
    steps, gamma = setup.steps, setup.gamma
    if length <= steps * (gamma + 1):
        yield Shape(steps, gamma)
    if length <= steps * gamma:
        yield Shape(steps, gamma, bonus=False)
    loop, rest = divmod(length, steps)
    if loop > 1 and not rest and all(item.fixed for item in observed):
        yield Shape(steps, gamma, loop=loop, clipped=True)
        yield Shape(steps, gamma, loop=loop)


class _Search:
    """All faults, held against what was measured under one shape."""

    def __init__(self, observed: Sequence[Observed], shape: Shape, setup: Setup) -> None:
        self._observed, self._shape, self._setup = observed, shape, setup
        self._known: dict[object, bool | None] = {}

    def names(self) -> tuple[str, ...]:
        """The names of those that explain it."""
        found: dict[str, None] = {}
        first = self._observed[0]
        several = self._shape.steps > 1 or self._shape.loop > 1
        later = several and all(item.begins_right for item in self._observed)
        for fault in faults(first.law, first.table, self._setup):
            possible = fault.name not in found and (later or not fault.stateful)
            if possible and self._explains(fault):
                found[fault.name] = None
        return tuple(found)

    def _explains(self, fault: Fault) -> bool:
        """Whether the fault has every law that it has an opinion on, and a differing one among
        them. The laws of a few tokens are compared first, on every table, which is cheap."""
        told = list(self._observed)
        for length in range(1, _FEW + 1):
            for item in [item for item in told if length < len(item.begun) - 1]:
                near = self._near(fault, item, length)
                if near is None:
                    told.remove(item)
                elif not near:
                    return False
        explained = False
        for item in told:
            near = self._whole(fault, item)
            if near is False:
                return False
            explained = explained or (near is True and item.differs)
        return explained

    def _near(self, fault: Fault, item: Observed, length: int) -> bool | None:
        """Whether the laws of the first tokens are one; None where the fault has none. Faults that
        are alike on the first table are compared once."""
        if item is not self._observed[0] or fault.alike is None:
            return self._compared(fault, item, length)
        key = (fault.name, length, fault.alike(length))
        if key not in self._known:
            self._known[key] = self._compared(fault, item, length)
        return self._known[key]

    def _compared(self, fault: Fault, item: Observed, length: int) -> bool | None:
        law = fault_law(fault, item.table, self._shape, length)
        if law is None:
            return None
        return total_variation(law, item.begun[length]) <= item.tolerance

    def _whole(self, fault: Fault, item: Observed) -> bool | None:
        """The same for the longest law that is compared; the longest output of the fault has to be
        as long as the one that was measured."""
        length = len(item.begun) - 1
        if self._shape.loop or length < item.length:
            return self._compared(fault, item, length)
        try:
            emitted = emissions(fault, item.table, self._shape, length + 1)
        except UndefinedLawError:
            return None
        if max(map(len, emitted)) != length:
            return False
        law = continued(emitted.items(), item.table.target, length)
        return total_variation(law, item.begun[length]) <= item.tolerance
