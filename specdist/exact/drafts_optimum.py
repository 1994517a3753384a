"""The most that n draft tokens at one position can be accepted with, over every lossless rule.

p is the target, q the draft, p(H) and q(H) masses of a set H of tokens, D the law of the drafted
tuple. A lossless rule routes the mass of each tuple to tokens in it, at most p(x) to token x.
Tuples inside H have no other place than H, so at least ``D(all drafted in H) - p(H)`` is rejected,
and by Hall's condition (minimum cut = maximum flow) nothing more need be:

    optimum = 1 - max over H of [ D(all drafted in H) - p(H) ]

Draws i.i.d. from q: D = q(H)^n. Let H* be a maximiser and ``c = n q(H*)^(n-1)``. As s^n lies above
its tangent, ``q(H)^n - p(H) >= q(H*)^n - c q(H*) + [c q(H) - p(H)]`` for every H, and the bracket
is largest for ``{x: p(x) < c q(x)}``: so some set of the tokens of smallest p/q is a maximiser,
with ``c <= n``, and only such sets are tried. For n = 1 that is 1 - TV(p, q).

Distinct tokens, the same choice in every step: p(Top), Top the n tokens of largest q. The n - 1
largest and a last one drawn from q outside Top (the n - 1), or the pairs of SpecHub, n = 2, Top
its hub:

    optimum = p(Top) + sum over x outside Top of min(p(x), q(x) / (1 - q(Top)))

Sources: the setting of Sun et al. 2410.18234 and Hu et al. 2502.18779; the cut is the textbook one.
"""

from __future__ import annotations

from fractions import Fraction
from typing import NamedTuple

from specdist.exact.rational_vector import RationalVector
from specdist.exact.vector import ExactVector

_ZERO, _ONE = Fraction(0), Fraction(1)


class Enclosed(NamedTuple):
    """A number within ``bound`` of ``value``; exact for the weights as represented, and for the
    real-valued laws, where the bound is 0."""

    value: Fraction
    bound: Fraction = _ZERO


def optimum_iid(target: ExactVector, draft: ExactVector, count: int) -> Enclosed:
    """``1 - max over H of [q(H)^count - p(H)]`` for two laws over the same tokens, ``count >= 1``.

    The bound has what the errors of the two laws make of it: q(H) and p(H) are off by half of them
    at most, and the power by ``count`` times that. Exact otherwise, but for float64 laws where
    thousands of tokens agree in p/q to 2**-53 without having it in common; what that leaves open,
    about 1e-10, is in the bound then.
    """
    inherited = (count * draft.error + target.error) / 2
    if count == 1:
        return Enclosed(target.minimum(draft).total(), min(inherited, _ONE))
    excess, gap = _largest_excess(target, draft, count)
    return Enclosed(1 - excess, min(gap + inherited, _ONE))


def _largest_excess(
    target: ExactVector, draft: ExactVector, count: int
) -> tuple[Fraction, Fraction]:
    """The maximum over H, and how far above it may lie: by the tokens in the order of p/q."""
    if not isinstance(target, RationalVector) or not isinstance(draft, RationalVector):
        from specdist.exact.float_drafts_optimum import float_excess

        found = float_excess(target, draft, count)
        if found is not None:
            return found
    values = [[vector.value(token) for token in range(vector.size)] for vector in (target, draft)]
    pairs = [(p, q) for p, q in zip(*values, strict=True) if q]
    pairs.sort(key=lambda pair: pair[0] / pair[1])
    kept = drafted = best = _ZERO
    for p, q in pairs:
        kept, drafted = kept + p, drafted + q
        best = max(best, drafted**count - kept)
    return best, _ZERO


def optimum_top(target: ExactVector, draft: ExactVector, count: int) -> Enclosed:
    """``p(Top)`` for the ``count`` tokens of largest q, ties by rising id."""
    top = draft.largest(count)
    found = min(target.among(top).total(), _ONE)
    return Enclosed(found, min(target.error / 2 + _doubt(draft, count), _ONE))


def optimum_top_then_sampled(
    target: ExactVector, draft: ExactVector, count: int
) -> Enclosed | None:
    """The optimum for the ``count - 1`` tokens of largest q, ties by rising id, and one more drawn
    from q without them; with ``count = 2`` that of SpecHub too. None where q has no other token."""
    top = draft.largest(count - 1)
    fixed = draft.among(top)
    left = 1 - fixed.total()
    if left <= 0:
        return None
    margin = left - draft.error
    error = target.error + (2 * draft.error / margin if margin > 0 else _ONE)
    last = (draft - fixed).scaled(1 / left).minimum(target - target.among(top))
    found = target.among(top).total() + last.total()
    return Enclosed(min(found, _ONE), min(error + _doubt(draft, count - 1), _ONE))


def _doubt(draft: ExactVector, count: int) -> Fraction:
    """1 where rounding leaves open which tokens are the ``count`` largest, else 0. Equal entries
    are put in order by their ids."""
    if not draft.error or not count:
        return _ZERO
    largest = draft.largest(count + 1)
    if len(largest) <= count:
        return _ZERO
    gap = draft.value(largest[count - 1]) - draft.value(largest[count])
    return _ONE if 0 < gap <= 2 * draft.error else _ZERO
