"""The law that tokens are drafted from is not the row that they are tested with; and rows that are
cut or tempered on one side only."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction
from functools import lru_cache
from itertools import product

from specdist.audit.known_faults.acceptance import of_target
from specdist.audit.known_faults.recovery import one_hot_residual
from specdist.audit.known_faults.rows import Alike, Change, Fault, Rows, stateless, unchanged
from specdist.audit.known_faults.token_chain import ZERO, TokenChain, argmax, bonus_row, point
from specdist.audit.tables import Law, Table, Tokens

PARTS = 64
"""Rows of the tables are multiples of 1/PARTS, so thresholds of k/PARTS are all there are."""


def top(row: Law) -> Law:
    """All mass on the most probable token."""
    return point(argmax(row), len(row))


def normalised(weights: tuple[Fraction, ...]) -> Law:
    """The same with sum 1."""
    total = sum(weights, ZERO)
    return tuple(weight / total for weight in weights)


def top_k(count: int) -> Change:
    """The ``count`` largest masses and their ties."""

    def cut(row: Law) -> Law:
        least = sorted(row)[-count]
        return normalised(tuple(mass if mass >= least else ZERO for mass in row))

    return cut


def top_p(mass: Fraction) -> Change:
    """The shortest run of falling masses, ties by rising id, that reaches ``mass``."""

    def cut(row: Law) -> Law:
        kept, total = set(), ZERO
        for token in sorted(range(len(row)), key=lambda y: (-row[y], y)):
            if total >= mass:
                break
            kept.add(token)
            total += row[token]
        return normalised(tuple(m if y in kept else ZERO for y, m in enumerate(row)))

    return cut


def min_p(share: Fraction) -> Change:
    """Masses of at least ``share`` times the largest."""

    def cut(row: Law) -> Law:
        least = share * max(row)
        return normalised(tuple(mass if mass >= least else ZERO for mass in row))

    return cut


def at_least(least: Fraction) -> Change:
    """Masses of at least ``least``; the largest stays whatever it is."""

    def cut(row: Law) -> Law:
        edge = min(least, max(row))
        return normalised(tuple(mass if mass >= edge else ZERO for mass in row))

    return cut


def tempered(exponent: float) -> Change:
    """The row to a power, normalised: temperature 1/exponent. In float64, as weights."""

    def change(row: Law) -> Law:
        if exponent == int(exponent):
            return normalised(tuple(mass ** int(exponent) if mass else ZERO for mass in row))
        powers = (Fraction(float(mass) ** exponent) if mass else ZERO for mass in row)
        return normalised(tuple(powers))

    return change


TEMPERATURES = ("1/4", "3/10", "1/2", "3/5", "7/10", "3/4", "4/5", "9/10", "6/5", "5/4", "3/2", "2")


def powers() -> Iterator[Change]:
    """Rows at the usual temperatures, and with these divided out."""
    for written in TEMPERATURES:
        temperature = Fraction(written)
        for exponent in (temperature, 1 / temperature):
            yield tempered(float(exponent))


def cuts(vocab: int) -> Iterator[Change]:
    """Rows cut by top-k, top-p, min-p or a threshold, with every parameter that makes a difference
    (min-p: the usual ones)."""
    yield from (top_k(count) for count in range(2, vocab))
    yield from (top_p(Fraction(k, PARTS)) for k in range(1, PARTS))
    yield from (min_p(Fraction(share)) for share in ("1/20", "1/10", "1/5", "1/4", "3/10", "1/2"))
    yield from (at_least(Fraction(k, PARTS)) for k in range(1, PARTS))


def of_drafts(change: Change, table: Table, how: str) -> Iterator[Fault]:
    """The change where tokens are drafted, or where they are tested; ``how`` says in words what it
    is. None where every row becomes a point mass: that is another fault."""
    rows = alike_rows(lambda prefix: change(table.draft(prefix)), table.vocab)
    if not _one_hot(rows):
        drawn, tested = TokenChain(drafted=change), TokenChain(tested=change)
        yield stateless(f"draft tokens are drawn {how}, tested without", drawn, rows)
        yield stateless(f"draft tokens are tested {how}, drawn without", tested, rows)


def of_targets(change: Change, table: Table, how: str, bonus_too: bool = True) -> Iterator[Fault]:
    """The change where the target is tested, and without the bonus or ``bonus_too``."""
    rows = alike_rows(lambda prefix: change(table.target(prefix)), table.vocab)
    if not _one_hot(rows):
        whole = TokenChain(target=change)
        tests = replace(whole, bonus=unchanged_bonus)
        yield stateless(f"the target's rows are tested {how}, the bonus is drawn without",
                        tests, rows)  # fmt: skip
        if bonus_too:
            yield stateless(f"the target's rows are read {how}", whole, rows)


def bonus_with(change: Change, table: Table, gamma: int, how: str) -> Iterator[Fault]:
    """The change for the bonus row only."""
    bonuses = alike_rows(lambda prefix: change(table.target(prefix)), table.vocab, gamma)
    chain = TokenChain(bonus=lambda rows, i: change(rows.target(i)))
    yield stateless(f"the bonus is drawn {how}, the tests go without", chain, bonuses)


Rowed = Callable[[Tokens], Law]


def alike_rows(row: Rowed, vocab: int, first: int = 0) -> Alike:
    """The rows that decide the first tokens: those after ``first`` tokens and more."""

    @lru_cache
    def key(tokens: int) -> tuple[Law, ...]:
        prefixes = (z for i in range(first, tokens) for z in product(range(vocab), repeat=i))
        return tuple(row(prefix) for prefix in prefixes)

    return key


def _one_hot(rows: Alike) -> bool:
    """Whether every row of the first tokens has one token only."""
    key = rows(2)
    return isinstance(key, tuple) and all(max(row) == 1 for row in key)


def unchanged_bonus(rows: Rows, i: int) -> Law:
    """The bonus row, whatever is done to the rows of the test."""
    rows.target_as = unchanged
    return bonus_row(rows, i)


_ARGMAX = TokenChain(drafted=top)
DRAFT_LAWS = (
    stateless("argmax draft tested with the softmax row", _ARGMAX),
    stateless(
        "argmax draft tested with the softmax row, with the one-hot residual",
        replace(_ARGMAX, recover=one_hot_residual),
    ),
    stateless(
        "one-hot test of an argmax draft with the dense residual",
        replace(_ARGMAX, accept=of_target),
    ),
    stateless(
        "uniform drafts tested with the softmax row",
        TokenChain(drafted=lambda row: tuple(Fraction(1, len(row)) for _ in row)),
    ),
    stateless("sampled draft tested as if it were the draft's argmax", TokenChain(tested=top)),
)
