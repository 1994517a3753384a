"""Uniforms of one step that are one number: what follows from it, as facts and as laws.

Draws are inverse CDFs: C is the cumulative draft law, R that of the residual, a(x) the chance of
acceptance. Given that a position is reached,

    one uniform for all tests    see `emitted`
    draw and test of a token     accepted(x) = |[C(x-1), C(x)) below a(x)|
    last test and final token    recovered(y) = sum_x D(x) |[R(y-1), R(y)) above a(x)|
    draw and final token         recovered(y) = sum_x (1 - a(x)) |[C(x-1), C(x)) in [R(y-1), R(y))|

The last two are ``H(R(y)) - H(R(y-1))`` with H(t) piecewise linear: the mass of what is rejected
while the shared uniform is below t.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import accumulate

from specdist.exact.sparse import from_entries
from specdist.exact.vector import ExactVector
from specdist.model.role import Role
from specdist.model.trace import TraceStep
from specdist.rules.outcomes import Outcomes, RoleLaws
from specdist.rules.recovery import recover, residual
from specdist.rules.token_rule import accepted_by_ratio
from specdist.verify.replay.engine_model import Reuse

_ZERO, _ONE = Fraction(0), Fraction(1)


def shared_in(step: TraceStep, reuse: Reuse) -> bool | None:
    """Whether the uniforms that ``reuse`` names are one number in this step; None where there are
    not two of them."""
    tested = (step.u_accept or ())[: step.tests]
    drawn = (step.u_draft or ())[: len(tested)]
    if reuse is Reuse.ACCEPTS:
        return len(set(tested)) == 1 if len(tested) > 1 else None
    if reuse is Reuse.DRAFT_ACCEPT:
        return tested == drawn if tested and len(drawn) == len(tested) else None
    if step.u_final is None or not step.rejected:
        return None
    other = tested if reuse is Reuse.ACCEPT_FINAL else drawn
    if len(other) < step.tests:
        return None
    return other[-1] == step.u_final


def shared_outcomes(laws: RoleLaws, reuse: Reuse, recovery: str) -> Outcomes:
    """Outcomes of one position whose draws share a uniform; rounded to float64 where the laws are
    float64 arrays, with that in the error."""
    drafted = laws[Role.DRAFTED_FROM]
    accepted = accepted_by_ratio(laws)
    tokens = _support(drafted)
    masses = [drafted.value(token) for token in tokens]
    kept = [accepted.value(token) for token in tokens]
    error = 4 * (drafted.error + accepted.error)
    if reuse is Reuse.DRAFT_ACCEPT:
        below = {}
        for token, mass, part, end in zip(tokens, masses, kept, accumulate(masses), strict=True):
            below[token] = max(min(end, part / mass) - (end - mass), _ZERO)
        doubt = error * (len(tokens) + 1)
        return recover(laws, from_entries(accepted, below, doubt), recovery)
    plain = recover(laws, accepted, recovery)
    if not plain.rejected or plain.unassigned:
        return plain
    weights = residual(laws) if recovery == "residual" else laws[Role.RESIDUAL_TARGET]
    rejected_below = (_above_chances if reuse is Reuse.ACCEPT_FINAL else _along_draws)(masses, kept)
    total, found, before, reached = weights.total(), {}, _ZERO, _ZERO
    for token in _support(weights):
        reached += weights.value(token) / total
        after = rejected_below(reached)
        found[token], before = after - before, after
    apart = error + 4 * min(weights.error / total, _ONE)
    return Outcomes(accepted, from_entries(accepted, found, apart), plain.rejected)


def _support(vector: ExactVector) -> list[int]:
    """Tokens with a positive entry, rising: the order of the draws."""
    share = vector.positive_share()
    return [] if share is None else sorted(vector.positive_part().largest(share.size))


def _along_draws(
    masses: Sequence[Fraction], kept: Sequence[Fraction]
) -> Callable[[Fraction], Fraction]:
    """H for the uniform that drew the token: ``H(C(x)) = sum of D - accepted up to x``."""
    ends = list(accumulate(masses))
    rejected = [mass - part for mass, part in zip(masses, kept, strict=True)]
    sums = list(accumulate(rejected))

    def height(at: Fraction) -> Fraction:
        entry = min(bisect_left(ends, at), len(ends) - 1)
        inside = max(ends[entry] - at, _ZERO) / masses[entry]
        return sums[entry] - inside * rejected[entry]

    return height


def _above_chances(
    masses: Sequence[Fraction], kept: Sequence[Fraction]
) -> Callable[[Fraction], Fraction]:
    """H for the uniform that rejected it: ``H(t) = sum D(x) (t - a(x))`` over ``a(x) < t``, and
    ``D a`` is the accepted mass."""
    order = sorted(range(len(masses)), key=lambda entry: kept[entry] / masses[entry])
    chances = [kept[entry] / masses[entry] for entry in order]
    drafted = [_ZERO, *accumulate(masses[entry] for entry in order)]
    accepted = [_ZERO, *accumulate(kept[entry] for entry in order)]

    def height(at: Fraction) -> Fraction:
        count = bisect_left(chances, at)
        return at * drafted[count] - accepted[count]

    return height
