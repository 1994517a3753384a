"""Every known wrong rule, by the name that a report gives it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from fractions import Fraction
from itertools import pairwise, product

from specdist.audit.context import Setup
from specdist.audit.judge import ROUNDING
from specdist.audit.known_faults.acceptance import ACCEPTANCE, LENIENCES
from specdist.audit.known_faults.block_rules import BLOCK_RULES, JOINT_RATIO
from specdist.audit.known_faults.bonus import BONUS
from specdist.audit.known_faults.caches import CACHES
from specdist.audit.known_faults.draft_laws import (
    DRAFT_LAWS,
    alike_rows,
    bonus_with,
    cuts,
    of_drafts,
    of_targets,
    powers,
)
from specdist.audit.known_faults.exponents import bonus_exponents, bonus_law, target_exponents
from specdist.audit.known_faults.lengths import LENGTHS, cuts_after_test, drops
from specdist.audit.known_faults.randomness import RANDOMNESS
from specdist.audit.known_faults.recovery import FLOORED, RECOVERY
from specdist.audit.known_faults.row_places import (
    RECOVERED_ELSEWHERE,
    TESTED_ELSEWHERE,
    turned_drafts,
    turned_targets,
)
from specdist.audit.known_faults.rows import Fault, Rows, stateless
from specdist.audit.known_faults.token_chain import TokenChain, quotient
from specdist.audit.prefix_law import SequenceLaw, marginal, target_law, total_variation
from specdist.audit.tables import Law, Table, Tokens

SINGLE: tuple[Fault, ...] = (
    *ACCEPTANCE,
    *RECOVERY,
    *DRAFT_LAWS,
    *RECOVERED_ELSEWHERE,
    *TESTED_ELSEWHERE,
    *BONUS,
    *BLOCK_RULES,
    *JOINT_RATIO,
    *RANDOMNESS,
    *CACHES,
    *LENGTHS,
)
"""Faults without a parameter."""

_NEAR = Fraction(1, 2**10)
"""Bonus rows that differ by more than this need no comparison of whole laws."""

Family = Callable[[SequenceLaw, Table, Setup], Iterable[Fault]]
"""Faults with a parameter: the members that are worth a try, given the law that was measured on a
first table. Members may share a name."""


def faults(law: SequenceLaw, table: Table, setup: Setup) -> Iterator[Fault]:
    """All faults to be held against a measured law, the plainest first."""
    yield from SINGLE
    for family in FAMILIES:
        yield from family(law, table, setup)


def _changed_rows(law: SequenceLaw, table: Table, setup: Setup) -> Iterator[Fault]:
    """Rows that are cut or tempered in one place only; a temperature that all target rows or all
    bonus rows have is found otherwise."""
    cut, tempered = "with a cut row (top-k, top-p, min-p)", "at another temperature"
    if not _right(law, table, setup.gamma):
        for change in powers():
            yield from of_drafts(change, table, tempered)
            yield from of_targets(change, table, tempered, bonus_too=False)
        for change in cuts(setup.vocab):
            yield from of_drafts(change, table, cut)
            yield from of_targets(change, table, cut)
    elif not _right(law, table, setup.gamma + 1):
        prefix, measured = bonus_law(law, table, setup.gamma)
        for change in cuts(setup.vocab):
            row = change(table.target(prefix))
            if measured and all(abs(x - y) < _NEAR for x, y in zip(row, measured, strict=True)):
                yield from bonus_with(change, table, setup.gamma, cut)


def _right(law: SequenceLaw, table: Table, length: int) -> bool:
    """Whether the law of the first tokens is the target's."""
    begun = marginal(law, length)
    return total_variation(begun, target_law(table.target, length)) <= ROUNDING


def _ids(law: SequenceLaw, table: Table, setup: Setup) -> Iterator[Fault]:
    for by in range(1, setup.vocab):
        yield from turned_drafts(by)
        yield turned_targets(by)


def _constant_uniform(law: SequenceLaw, table: Table, setup: Setup) -> Iterator[Fault]:
    """Tests whose uniform is always the same number: one number between any two ratios that the
    table has."""
    prefixes = [z for i in range(setup.gamma) for z in product(range(setup.vocab), repeat=i)]
    pairs = [(table.target(z), table.draft(z)) for z in prefixes]
    ratios = {quotient(p, q) for target, draft in pairs for p, q in zip(target, draft, strict=True)}
    for low, high in pairwise(sorted((ratios - {Fraction(0)}) | {Fraction(1)})):
        yield _above((low + high) / 2, table)


def _above(number: Fraction, table: Table) -> Fault:
    def accept(rows: Rows, i: int) -> Fraction:
        token = rows.token(i)
        return Fraction(number < quotient(rows.target(i)[token], rows.draft(i)[token]))

    def accepted(prefix: Tokens) -> Law:
        both = zip(table.target(prefix), table.draft(prefix), strict=True)
        return tuple(Fraction(number < quotient(above, below)) for above, below in both)

    name = "tests with a uniform that is always the same number (a fixed seed)"
    return stateless(name, TokenChain(accept), alike_rows(accepted, table.vocab))


FAMILIES: tuple[Family, ...] = (
    lambda law, table, setup: cuts_after_test(setup.gamma),
    bonus_exponents,
    target_exponents,
    _ids,
    lambda law, table, setup: LENIENCES,
    lambda law, table, setup: FLOORED,
    lambda law, table, setup: drops(table),
    _constant_uniform,
    _changed_rows,
)
