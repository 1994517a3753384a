"""Proven intervals of what two partly known distributions have in common.

``alpha = sum_x min(p(x), q(x))`` of a target p and a draft q that are only known as `PartialLaw`s
is an interval; total variation is ``1 - alpha``. With A, B, C, D = tokens listed by both, by the
target only, by the draft only, by neither.

Up to `partial_masses.SMALL` listed tokens the upper end is exact. So is the lower one where at most
`EXACT` tokens (or sets of like tokens) are neither surely more likely under the target nor surely
under the draft, unless the search for it is very long: then, and for more tokens, the end is proven
and close (`float_overlap`). Whatever is worked out on float64 arrays is rounded outwards.
"""

from __future__ import annotations

from fractions import Fraction

from specdist.exact.interval import Interval
from specdist.exact.law import Law, RationalLaw
from specdist.exact.overlap_items import boxes, listed_items, pair_of, unlisted_items
from specdist.exact.overlap_lower import lower_problem
from specdist.exact.overlap_upper import largest_overlap
from specdist.exact.partial_law import PartialLaw
from specdist.exact.partial_masses import (
    SMALL,
    Totals,
    free_scale,
    least_mass,
    share,
    summed,
    totals_of,
)
from specdist.exact.set_search import least

EXACT = 64
"""Open tokens up to which the lower end is exact."""

_ZERO, _ONE = Fraction(0), Fraction(1)
_DEEP = Fraction(1, 2**960)
_SAYS_NOTHING = Fraction(1, 100)


def overlap(target: PartialLaw, draft: PartialLaw) -> Interval:
    """The interval of ``sum_x min(p(x), q(x))`` over all distributions p and q, independent of each
    other, that the two laws stand for: proven, and the tightest for few tokens (module). Raises
    ValueError where one of them stands for none (`contradiction`)."""
    laws, sides = (target, draft), (totals_of(target), totals_of(draft))
    if len(target.ids) + len(draft.ids) > SMALL:
        return _of_many(laws, sides)
    mine, theirs = boxes(target), boxes(draft)
    both = sum(1 for token in mine if token in theirs)
    listed = listed_items(mine, theirs, sides)
    unlisted = unlisted_items(laws, sides, len(mine) - both, len(theirs) - both)
    scales = (sides[0].scale, sides[1].scale)
    most = largest_overlap(pair_of((*listed, *unlisted.together), *scales))
    problem = lower_problem(pair_of((*listed, *unlisted.apart), *scales))
    if len(problem.counts) > EXACT:
        return Interval(min(_of_many(laws, sides).least, most), most)
    return Interval(least(problem), most)


def _of_many(laws: tuple[PartialLaw, PartialLaw], sides: tuple[Totals, Totals]) -> Interval:
    from specdist.exact.float_overlap import float_overlap

    return float_overlap(laws, sides)


def rest_of(law: PartialLaw) -> Interval:
    """The interval of the mass of all unlisted tokens."""
    whole = totals_of(law)
    low, high, _ = whole.listed
    return Interval(
        least_mass(whole.scale, _ZERO, high, _ZERO),
        1 - least_mass(whole.scale, low, whole.rest.high, whole.rest.extra),
    )


def share_of(law: PartialLaw, index: int) -> Interval:
    """The interval of the probability of the listed token ``law.ids[index]``."""
    return share(law, totals_of(law), index)


def as_partial(law: Law) -> PartialLaw:
    """A complete law as a partial one: every possible token is listed, the others are impossible;
    ``low`` and ``high`` hold the rounding bound of the weights, and the scale is free. The ``mass``
    of a law plays no part. Each call makes an object of its own: roles that share a law must share
    the result as well."""
    if not isinstance(law, RationalLaw):
        from specdist.exact.float_masses import partial_of

        return partial_of(law)
    ids = tuple(token for token, value in enumerate(law.values) if value)
    values = tuple(law.values[token] for token in ids)
    if not law.bound:
        return PartialLaw(ids, values, values, 0)
    if law.bound >= _SAYS_NOTHING:
        return PartialLaw(ids, (_ZERO,) * len(ids), (_ONE,) * len(ids), 0)
    known = [value >= _DEEP for value in values]
    low = tuple(v / (1 + law.bound) if k else _ZERO for v, k in zip(values, known, strict=True))
    high = tuple(
        v / (1 - law.bound) if k else 3 * _DEEP for v, k in zip(values, known, strict=True)
    )
    return PartialLaw(ids, low, high, 0, scale=free_scale(summed(low, high)))


def contradiction(law: PartialLaw) -> str:
    """Why no distribution satisfies the constraints, as a clause for a message; "" if one does, or
    if rounded sums do not prove the contrary."""
    token = _emptied(law)
    if token is not None:
        return f"the bounds of token {token} leave nothing"
    if law.scale.least < 0 or (law.cap or 0) < 0 or (law.others or 0) < 0:
        return "a scale, cap or count is negative"
    try:
        totals_of(law)
    except ValueError as error:
        return str(error)
    return ""


def _emptied(law: PartialLaw) -> int | None:
    if isinstance(law.low, tuple) and isinstance(law.high, tuple):
        rows = zip(law.ids, law.low, law.high, strict=True)
        return next((int(x) for x, low, high in rows if not 0 <= low <= high), None)
    from specdist.exact.float_masses import emptied

    return emptied(law)
