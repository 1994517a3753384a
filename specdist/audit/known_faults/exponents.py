"""Temperatures that are missing somewhere: the power of a row that explains a measured law.

With p^s normalised, the mean of log p grows with s; so s follows from the mean that was measured.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from fractions import Fraction

from specdist.audit.context import Setup
from specdist.audit.known_faults.bonus import changed, of_bonus
from specdist.audit.known_faults.draft_laws import tempered
from specdist.audit.known_faults.rows import Fault, stateless
from specdist.audit.known_faults.token_chain import TokenChain
from specdist.audit.prefix_law import SequenceLaw, marginal
from specdist.audit.tables import Law, Table, Tokens

_MOST = 64.0
Weighted = tuple[float, Law]
"""How much of the law a row stands for, and the row."""


def bonus_exponents(law: SequenceLaw, table: Table, setup: Setup) -> Iterator[Fault]:
    """The token rule whose bonus row is the target's to a power, the power taken from the law."""
    gamma = setup.gamma
    begun, whole = marginal(law, gamma), marginal(law, gamma + 1)
    rows: list[Weighted] = []
    mean = 0.0
    for prefix, mass in begun.items():
        row = table.target(prefix)
        kept = float(_kept(table, prefix))
        rows.append((kept, row))
        mean += _mean(lambda y, prefix=prefix: float(whole.get((*prefix, y), 0)), row)  # type: ignore[misc]
        mean -= (float(mass) - kept) * _mean_of_power(row, 1.0)
    yield from (
        of_bonus(f"bonus row without temperature ({_power(s)})", changed(tempered(s)))
        for s in _powers(rows, mean)
    )


def bonus_law(law: SequenceLaw, table: Table, gamma: int) -> tuple[Tokens, Law]:
    """The draft tokens that the right test accepts most often, and the law of the bonus after them
    that a measured law has, if all else in it is right. No law where none is ever accepted.

    Of the mass P(z) on these tokens a share A(z) is accepted, so the next token y has mass
    (P(z) - A(z)) P(y|z) + A(z) b(y|z).
    """
    whole = marginal(law, gamma + 1)
    prefix = max(marginal(law, gamma), key=lambda z: _kept(table, z))
    kept, mass, row = _kept(table, prefix), Fraction(1), table.target(prefix)
    for i, token in enumerate(prefix):
        mass *= table.target(prefix[:i])[token]
    both = ((whole.get((*prefix, y), Fraction(0)), share) for y, share in enumerate(row))
    if not kept:
        return prefix, ()
    return prefix, tuple((found - (mass - kept) * share) / kept for found, share in both)


def target_exponents(law: SequenceLaw, table: Table, setup: Setup) -> Iterator[Fault]:
    """The token rule for a target to a power, taken from the law of the first token."""
    row, first = table.target(()), marginal(law, 1)
    mean = _mean(lambda y: float(first.get((y,), 0)), row)
    for s in _powers([(1.0, row)], mean):
        yield stateless(
            f"target rows at another temperature ({_power(s)})", TokenChain(target=tempered(s))
        )


def _power(power: float) -> str:
    return f"the target to the power {Fraction(power).limit_denominator(100)}"


def _kept(table: Table, prefix: Tokens) -> Fraction:
    """The probability that the right test accepts these draft tokens."""
    mass = Fraction(1)
    for i, token in enumerate(prefix):
        mass *= min(table.target(prefix[:i])[token], table.draft(prefix[:i])[token])
    return mass


def _powers(rows: Iterable[Weighted], mean: float) -> Iterator[float]:
    """The power at which the weighted mean of log p is ``mean``, as a short fraction and as it
    is; none where no power has it."""
    listed = list(rows)

    def excess(power: float) -> float:
        return sum(weight * _mean_of_power(row, power) for weight, row in listed) - mean

    low, high = 0.0, _MOST
    if not excess(low) < 0 < excess(high):
        return
    for _ in range(80):
        middle = (low + high) / 2
        low, high = (middle, high) if excess(middle) < 0 else (low, middle)
    yield float(Fraction(low).limit_denominator(100))
    yield low


def _mean_of_power(row: Law, power: float) -> float:
    """The mean of log p under p^power normalised."""
    weights = [float(mass) ** power if mass else 0.0 for mass in row]
    return _mean(lambda y: weights[y], row) / sum(weights)


def _mean(mass: Callable[[int], float], row: Law) -> float:
    return sum(mass(y) * math.log(share) for y, share in enumerate(row) if share)
