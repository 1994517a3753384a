"""From the measured law of one table to what a report says of it."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

from specdist.audit.measure import Measured
from specdist.audit.prefix_law import (
    SequenceLaw,
    continued,
    marginal,
    next_tokens,
    outside,
    target_law,
    total_variation,
)
from specdist.audit.refusals import BudgetError
from specdist.audit.tables import Law, Table, Tokens
from specdist.model.audit_report import DraftLine, Raised, SequenceLine, TableResult
from specdist.model.figure import Figure
from specdist.model.verdict import Verdict

ROUNDING = Fraction(1, 2**20)
"""Total variations up to this are what float arithmetic makes of a lossless rule."""
_MOST_SEQUENCES = 2**21
LARGEST_BOUND = Fraction(1, 10)
"""A probe that leaves more open than this total variation has shown nothing."""
_ZERO = Fraction(0)


def judged(
    found: Measured,
    table: Table,
    show: int,
    reference: Measured | None = None,
    stepwise: bool = False,
) -> TableResult:
    """The result of one table, against its target or against what another adapter emits.

    Against the target the total variation is that of the joint law of the longest output, a shorter
    one being continued by the target. Against an adapter it is that of whole outputs, or, where
    ``stepwise`` says that it is plain decoding token by token, of outputs that it continues. An
    exception is an outcome that the target never has. Where branches were left out, the total
    variation is the least that is possible.
    """
    length = found.longest if reference is None else max(found.longest, reference.longest)
    law, right = _laws(found, table, length, reference, stepwise)
    missing = sum(found.raised.values(), _ZERO)
    distance = _distance(law, right, missing, found.unexplored)
    first = _distance(marginal(law, 1), marginal(right, 1), missing, found.unexplored)
    bound = found.bound
    if reference is not None:  # what continues the outputs of a lossless step is bounded too
        bound += reference.bound * (3 if stepwise else 1)
    strange = _outside(law, table, right if reference is not None else None)
    return TableResult(
        name=table.name,
        verdict=_verdict(distance, bound, found.unexplored),
        length=length,
        total_variation=Figure.of(distance),
        first_variation=Figure.of(first),
        outside=Figure.of(strange),
        leaves=found.leaves,
        lines=_lines(law, right, show),
        sequences=len(law.keys() | right.keys()),
        raised=_raised(found),
        draft=_draft_line(found, table),
        bound=Figure.of(bound) if bound else None,
        unexplored=Figure.of(found.unexplored) if found.unexplored else None,
    )


def _laws(
    found: Measured, table: Table, length: int, reference: Measured | None, stepwise: bool
) -> tuple[SequenceLaw, SequenceLaw]:
    if reference is not None:
        right = reference.emitted
        if not stepwise:
            return found.emitted, right
        following = next_tokens(right, table.vocab)
        return continued(found.emitted.items(), following, length), right
    if table.vocab**length > _MOST_SEQUENCES:
        raise BudgetError(
            f"the joint law of {length} tokens has {table.vocab}^{length} sequences",
            expected="at most 2^21 sequences for each table",
            advice="emit fewer tokens a run (--vocab, --gamma, --steps), or hold whole outputs "
            "against plain decoding (--reference)",
        )
    law = continued(found.emitted.items(), table.target, length)
    return law, target_law(table.target, length)


def _distance(
    law: SequenceLaw, right: SequenceLaw, missing: Fraction, unexplored: Fraction
) -> Fraction:
    """The total variation, or the least that it can be: mass above what is right stays above."""
    if not unexplored:
        return total_variation(law, right) + missing / 2
    above = (max(_ZERO, mass - right.get(tokens, _ZERO)) for tokens, mass in law.items())
    return sum(above, _ZERO) + missing


def _outside(law: SequenceLaw, table: Table, right: SequenceLaw | None) -> Fraction:
    if right is None:
        return outside(law, table.target)
    return sum((mass for tokens, mass in law.items() if not right.get(tokens)), _ZERO)


def _verdict(distance: Fraction, bound: Fraction, unexplored: Fraction) -> Verdict:
    """A law within rounding stands with a probe's bound, which is printed with it, unless that
    leaves too much open; a larger difference has to exceed the bound."""
    if distance > ROUNDING + bound:
        return Verdict.DIFFERENT
    if distance > ROUNDING or unexplored or bound > LARGEST_BOUND:
        return Verdict.UNDECIDED
    return Verdict.WITHIN_TOLERANCE if distance or bound else Verdict.EQUAL


def _lines(law: SequenceLaw, reference: SequenceLaw, show: int) -> tuple[SequenceLine, ...]:
    """The sequences that differ most, the largest difference first."""
    both = sorted(law.keys() | reference.keys())
    pairs = [(t, law.get(t, _ZERO), reference.get(t, _ZERO)) for t in both]
    pairs.sort(key=lambda item: -abs(item[1] - item[2]))
    return tuple(
        SequenceLine(tokens, Figure.of(mass), Figure.of(right), Figure.of(mass - right))
        for tokens, mass, right in pairs[:show]
    )


def _raised(found: Measured) -> tuple[Raised, ...]:
    """Exceptions by text and place, whatever was emitted before, the likeliest first."""
    masses: dict[tuple[str, str], Fraction] = {}
    for (_, error, place), mass in found.raised.items():
        masses[error, place] = masses.get((error, place), _ZERO) + mass
    ranked = sorted(masses.items(), key=lambda item: -item[1])
    return tuple(Raised(error, place, Figure.of(mass)) for (error, place), mass in ranked)


def _draft_line(found: Measured, table: Table) -> DraftLine | None:
    """The draft position whose tokens follow their row least; None where no rows were handed, and
    where branches were left out."""
    worst: DraftLine | None = None
    for prefix in sorted(found.drafted) if not found.unexplored else ():
        handed, drawn = table.draft(prefix), found.draft_law(prefix, table.vocab)
        distance = total_variation(_by_token(drawn), _by_token(handed))
        if worst is None or distance > (worst.total_variation.exact or _ZERO):
            figures = [tuple(map(Figure.of, row)) for row in (handed, drawn)]
            worst = DraftLine(prefix, figures[0], figures[1], Figure.of(distance))
    return worst


def _by_token(law: Law) -> Mapping[Tokens, Fraction]:
    return {(token,): mass for token, mass in enumerate(law)}
