"""What two partial laws list: how many tokens on which side, the mass of the others, the likeliest.

A token counts as listed where its probability is known to be above 0. A law may name further
tokens: those of a known support, or those that a cut may have kept or not.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import fsum, inf, nextafter

from specdist.exact.interval import Interval
from specdist.exact.overlap_bounds import rest_of, share_of
from specdist.exact.partial_law import PartialLaw
from specdist.model.partial_report import ListedCounts

_ZERO, _ONE = Fraction(0), Fraction(1)


def counts_of(target: PartialLaw, draft: PartialLaw, size: int | None) -> ListedCounts:
    """How many tokens of a vocabulary of ``size`` are listed on which side."""
    ours, theirs = listed(target), listed(draft)
    both = _in_both(ours, theirs)
    union = len(ours) + len(theirs) - both
    neither = None if size is None else size - union
    return ListedCounts(both, len(ours) - both, len(theirs) - both, neither)


def listed(law: PartialLaw) -> Sequence[int]:
    """The tokens whose probability is known to be above 0, rising."""
    if isinstance(law.low, tuple):
        return [int(token) for token, low in zip(law.ids, law.low, strict=True) if low > 0]
    import numpy as np

    found: list[int] = np.asarray(law.ids)[law.low > 0].tolist()
    return found


def unlisted_mass(law: PartialLaw) -> Interval:
    """The mass of all tokens that are not listed."""
    rest = rest_of(law).within(_ZERO, _ONE)
    if isinstance(law.low, tuple):
        shares = [share_of(law, i) for i, low in enumerate(law.low) if low > 0]
        if len(shares) == len(law.ids):
            return rest
        least = _ONE - sum((share.most for share in shares), _ZERO)
        most = _ONE - sum((share.least for share in shares), _ZERO)
        return Interval(least, most).within(_ZERO, _ONE)
    import numpy as np

    extra = nextafter(fsum(np.asarray(law.high)[law.low <= 0].tolist()), inf)
    return Interval(rest.least, rest.most + Fraction(extra) * law.scale.most).within(_ZERO, _ONE)


def likeliest(law: PartialLaw, count: int) -> list[int]:
    """The tokens of a law that have most at least, at most ``count`` of them, rising."""
    if len(law.ids) <= count:
        return [int(token) for token in law.ids]
    if isinstance(law.low, tuple):
        ranked = sorted(range(len(law.ids)), key=lambda i: (-law.low[i], i))[:count]
        return sorted(int(law.ids[i]) for i in ranked)
    import numpy as np

    ranks = np.argsort(-law.low, kind="stable")[:count]
    found: list[int] = sorted(np.asarray(law.ids)[ranks].tolist())
    return found


def _in_both(first: Sequence[int], second: Sequence[int]) -> int:
    return len(set(first) & set(second))
