"""What the two sides of a position list: how many tokens, the mass of the others, the likeliest."""

from __future__ import annotations

from fractions import Fraction
from math import fsum, inf, nextafter

from specdist.exact.interval import Interval
from specdist.exact.overlap_bounds import rest_of, share_of
from specdist.exact.partial_law import PartialLaw
from specdist.model.partial_report import ListedCounts
from specdist.model.row import ListedValues, PointMass, Row

Ids = frozenset[int] | None
"""The tokens that a row lists; None: all of them."""

_ZERO, _ONE = Fraction(0), Fraction(1)


def listed_by(row: Row, draft_map: tuple[int, ...] | None = None) -> Ids:
    """The tokens that a captured row lists, as target ids where a map of draft ids is given."""
    values = row.values
    if isinstance(values, PointMass):
        return frozenset([values.token])
    if not isinstance(values, ListedValues):
        return None
    whole = len(values.ids) == values.size and not values.open_ended
    if whole and draft_map is None:
        return None
    ids = map(int, values.ids)
    if draft_map is None:
        return frozenset(ids)
    return frozenset(draft_map[token] for token in ids if draft_map[token] >= 0)


def counts_of(target: Ids, draft: Ids, size: int | None) -> ListedCounts:
    """How many tokens of a vocabulary of ``size`` are listed on which side."""
    ours, theirs = (_count(ids, size) for ids in (target, draft))
    both = min(ours, theirs) if target is None or draft is None else len(target & draft)
    left = None if size is None else max(size - ours - theirs + both, 0)
    return ListedCounts(both, ours - both, theirs - both, left)


def unlisted_mass(law: PartialLaw, ids: Ids) -> Interval:
    """The mass of all tokens that a row does not list; a law may name more of them, such as those
    of a known support."""
    if ids is None:
        return Interval.of(0)
    rest = rest_of(law).within(_ZERO, _ONE)
    extra = [i for i, token in enumerate(law.ids) if int(token) not in ids]
    if not extra:
        return rest
    if isinstance(law.low, tuple):
        shares = [share_of(law, i) for i, token in enumerate(law.ids) if int(token) in ids]
        least = _ONE - sum((share.most for share in shares), _ZERO)
        most = _ONE - sum((share.least for share in shares), _ZERO)
        return Interval(max(least, rest.least, _ZERO), most).within(_ZERO, _ONE)
    high = nextafter(fsum(float(law.high[i]) for i in extra), inf)
    return Interval(rest.least, rest.most + Fraction(high) * law.scale.most).within(_ZERO, _ONE)


def blur(law: PartialLaw) -> Fraction:
    """About how far all probabilities that a law names may be off together."""
    if isinstance(law.low, tuple) and isinstance(law.high, tuple):
        low, high = sum(law.low, _ZERO), sum(law.high, _ZERO)
    else:
        import numpy as np

        low, high = (Fraction(float(np.asarray(end).sum())) for end in (law.low, law.high))
    return high * law.scale.most - low * law.scale.least


def likeliest(law: PartialLaw, count: int) -> list[int]:
    """The tokens of a law that have most at least, at most ``count`` of them, rising."""
    if len(law.ids) <= count:
        return [int(token) for token in law.ids]
    if isinstance(law.low, tuple):
        ranked = sorted(range(len(law.ids)), key=lambda i: (-law.low[i], i))[:count]
        return sorted(int(law.ids[i]) for i in ranked)
    import numpy as np

    ranks = np.argpartition(-law.low, count)[:count]
    found: list[int] = sorted(np.asarray(law.ids)[ranks].tolist())
    return found


def _count(ids: Ids, size: int | None) -> int:
    return (size or 0) if ids is None else len(ids)
