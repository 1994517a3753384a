"""From the measured law of one table to what a report says of it."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

from specdist.audit.measure import Measured
from specdist.audit.prefix_law import (
    SequenceLaw,
    continued,
    marginal,
    outside,
    target_law,
    total_variation,
)
from specdist.audit.tables import Law, Table, Tokens
from specdist.model.audit_report import DraftLine, Raised, SequenceLine, TableResult
from specdist.model.figure import Figure
from specdist.model.verdict import Verdict

ROUNDING = Fraction(1, 2**20)
"""Total variations up to this are what float arithmetic makes of a lossless rule."""
_ZERO = Fraction(0)


def judged(found: Measured, table: Table, show: int) -> TableResult:
    """The result of one table.

    The total variation is that of the joint law of the longest output; a shorter one is continued
    by the target. An exception is an outcome that the target never has.
    """
    length = found.longest
    law = continued(found.emitted.items(), table.target, length)
    reference = target_law(table.target, length)
    missing = sum(found.raised.values(), _ZERO)
    distance = total_variation(law, reference) + missing / 2
    first = total_variation(marginal(law, 1), marginal(reference, 1)) + missing / 2
    draft = _draft_line(found, table)
    lines = _lines(law, reference, show)
    return TableResult(
        name=table.name,
        verdict=_verdict(distance),
        length=length,
        total_variation=Figure.of(distance),
        first_variation=Figure.of(first),
        outside=Figure.of(outside(law, table.target)),
        leaves=found.leaves,
        lines=lines,
        sequences=len(law.keys() | reference.keys()),
        raised=_raised(found),
        draft=draft,
    )


def _verdict(distance: Fraction) -> Verdict:
    if not distance:
        return Verdict.EQUAL
    return Verdict.WITHIN_TOLERANCE if distance <= ROUNDING else Verdict.DIFFERENT


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
    """The draft position whose tokens follow their row least; None where no rows were handed."""
    worst: DraftLine | None = None
    for prefix in sorted(found.drafted):
        handed, drawn = table.draft(prefix), found.draft_law(prefix, table.vocab)
        distance = total_variation(_by_token(drawn), _by_token(handed))
        if worst is None or distance > (worst.total_variation.exact or _ZERO):
            figures = [tuple(map(Figure.of, row)) for row in (handed, drawn)]
            worst = DraftLine(prefix, figures[0], figures[1], Figure.of(distance))
    return worst


def _by_token(law: Law) -> Mapping[Tokens, Fraction]:
    return {(token,): mass for token, mass in enumerate(law)}
