"""From outcomes to figures and a verdict: one place for every rule."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from specdist.exact.rational_vector import rounded_up
from specdist.exact.vector import ExactVector
from specdist.model.figure import Figure
from specdist.model.verdict import Verdict
from specdist.rules.outcomes import Outcomes

_ZERO = Fraction(0)
_ONE = Fraction(1)
_SLACK = Fraction(1, 2**20)


@dataclass(frozen=True, slots=True)
class Comparison:
    """Output law against the reference.

    ``total_variation`` is exact for the laws as represented and ``bound`` its rounding bound.
    Where rejected mass has no token (``unassigned``), ``total_variation`` is the least that any
    choice of tokens for it can reach: ``sum [accepted + recovered - reference]_+``; where it is
    known that no token follows, that is an outcome of its own.
    """

    output: ExactVector
    difference: ExactVector
    total_variation: Fraction
    bound: Fraction
    unassigned: Fraction
    verdict: Verdict


def compare(outcomes: Outcomes, reference: ExactVector, proven_by_roles: bool) -> Comparison:
    """The verdict on one position.

    ``equal``: the difference vanishes, and not merely for the rounded weights: its terms cancel, or
    nothing was rounded, or the roles are those of a correct engine (``proven_by_roles``).
    ``different``: the total variation exceeds its rounding bound. Else ``undecided``.
    """
    output = outcomes.accepted + outcomes.recovered
    _refuse_lost_mass(output.total() + outcomes.unassigned, output.error)
    difference = output - reference
    unassigned = outcomes.unassigned if abs(outcomes.unassigned) > output.error else _ZERO
    excess = difference.positive_part().total()
    if unassigned and outcomes.raises:
        variation, bound = excess + unassigned, difference.error
        verdict = Verdict.DIFFERENT if variation > bound else Verdict.UNDECIDED
        return Comparison(output, difference, variation, bound, unassigned, verdict)
    if unassigned:
        variation = excess
        bound = difference.error
        decided = variation > bound
        verdict = Verdict.DIFFERENT if decided else Verdict.UNDECIDED
        return Comparison(output, difference, variation, bound, unassigned, verdict)
    if difference.vanishes_identically() or (proven_by_roles and difference.is_zero()):
        return Comparison(output, difference, _ZERO, _ZERO, _ZERO, Verdict.EQUAL)
    # TV = sum [d]_+ up to half of what the masses fail to sum to one by, which is rounding.
    variation = excess - difference.total() / 2
    bound = difference.error
    verdict = Verdict.DIFFERENT if variation > bound else Verdict.UNDECIDED
    return Comparison(output, difference, variation, bound, _ZERO, verdict)


class LostMassError(Exception):
    """The outcomes of a rule do not sum to one: a bug in specdist."""


def _refuse_lost_mass(total: Fraction, error: Fraction) -> None:
    if total != 1 and abs(total - 1) > error + (_SLACK if error else _ZERO):
        raise LostMassError(f"the outcomes of a rule sum to {float(total)!r}")


def compare_laws(output: ExactVector, reference: ExactVector, same: bool) -> Comparison:
    """The verdict on a law that is emitted as it stands, such as the bonus row's."""
    nothing = output.scaled(_ZERO)
    return compare(Outcomes(output, nothing.widened(_ZERO), _ZERO), reference, same)


def probability(value: Fraction, error: Fraction) -> Figure:
    """A figure in [0, 1] whose rounding bound never needs to exceed 1."""
    return Figure.of(value, rounded_up(min(error, _ONE)) if error else None)
