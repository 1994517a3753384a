"""Couplings by shared noise: the probability that target and draft both choose a token.

Laws, p the target and q the draft, each of sum one:

    gumbel         1 / sum_i max(p_i / p_x, q_i / q_x)      one exponential race
    minhash-dart   min(p_x, q_x) / sum_i max(p_i, q_i)      the same dart hits both
    minhash        min(p_x, q_x) (1 + |p_x - q_x|) / sum_i max(p_i, q_i)
    inverse-cdf    the overlap of the intervals of x, cumulative in token order

In the first the sum is ``A / p_x + B / q_x`` with A the p_i of ratio q_i / p_i at most q_x / p_x
and B the q_i of all others: two prefix sums in the order of the ratios. The second and third stay
in exact arithmetic, for ``min |p - q| = p q - min^2``. Every entry is at most ``min(p_x, q_x)``.

Relative errors of p and q of at most e make the first three wrong by ``4 E`` in all, where
``E = (1 + e) / (1 - e) - 1``: sums and quotients of maxima are off by E, and ``1 + |p - q|`` by
another 2 E. A boundary of the cumulative intervals is off by e at most, so an overlap by 2 e.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import accumulate

from specdist.exact.rational_vector import RationalVector
from specdist.exact.vector import ExactVector

SCHEMES = ("gumbel", "minhash", "minhash-dart", "inverse-cdf")
_ZERO, _TWO = Fraction(0), Fraction(2)


def both_choose(scheme: str, target: ExactVector, draft: ExactVector) -> ExactVector:
    """Mass per token of "both choose it" under one of `SCHEMES`."""
    error = max(target.error, draft.error)
    apart = _TWO if error >= 1 else min(4 * ((1 + error) / (1 - error) - 1), _TWO)
    if scheme in ("minhash", "minhash-dart"):
        return _by_hash(scheme, target, draft, apart)
    if isinstance(target, RationalVector) and isinstance(draft, RationalVector):
        by_race = scheme == "gumbel"
        found = _by_race(target, draft) if by_race else _by_intervals(target, draft)
        both = sum(1 for p, q in zip(target.entries, draft.entries, strict=True) if p and q)
        return RationalVector(tuple(found), apart if by_race else min(2 * both * error, _TWO))
    from specdist.exact.float_couplings import float_both_choose

    return float_both_choose(scheme, target, draft, apart, error)


def _by_hash(scheme: str, target: ExactVector, draft: ExactVector, apart: Fraction) -> ExactVector:
    p, q = target.widened(_ZERO), draft.widened(_ZERO)  # so that errors are those of products
    common = p.minimum(q)
    above = 1 / ((p + q).total() - common.total())
    if scheme == "minhash":
        squared = p.product(p).where(q - p) + q.product(q).where(p - q, also_zero=True)
        common = common + p.product(q) - squared
    found = common.scaled(above)
    return found.widened(found.error + apart)


def _by_race(target: RationalVector, draft: RationalVector) -> list[Fraction]:
    pairs = list(zip(target.entries, draft.entries, strict=True))
    ratios = {x: q / p for x, (p, q) in enumerate(pairs) if p}
    order = sorted(ratios, key=ratios.__getitem__)
    reached = list(accumulate((pairs[x][0] for x in order), initial=_ZERO))
    passed = list(accumulate((pairs[x][1] for x in order), initial=_ZERO))
    whole = sum(draft.entries, _ZERO)
    found = [_ZERO] * len(pairs)
    for place, x in enumerate(order):
        p, q = pairs[x]
        if q:
            low, high = reached[place + 1], whole - passed[place + 1]
            found[x] = p * q / (low * q + high * p)
    return found


def _by_intervals(target: RationalVector, draft: RationalVector) -> list[Fraction]:
    found, below_target, below_draft = [], _ZERO, _ZERO
    for p, q in zip(target.entries, draft.entries, strict=True):
        ends = min(below_target + p, below_draft + q)
        found.append(max(ends - max(below_target, below_draft), _ZERO))
        below_target, below_draft = below_target + p, below_draft + q
    return found
