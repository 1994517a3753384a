"""Proven intervals of what two partly known distributions have in common.

``alpha = sum_x min(p(x), q(x))`` of a target p and a draft q that are only known as `PartialLaw`s
is an interval; total variation is ``1 - alpha``.
"""

from __future__ import annotations

from specdist.exact.interval import Interval
from specdist.exact.law import Law
from specdist.exact.partial_law import PartialLaw


def overlap(target: PartialLaw, draft: PartialLaw) -> Interval:
    """The interval of ``sum_x min(p(x), q(x))`` over all distributions p and q, independent of each
    other, that the two laws stand for. Raises ValueError where one of them stands for none
    (`contradiction`)."""
    raise NotImplementedError


def rest_of(law: PartialLaw) -> Interval:
    """The interval of the mass of all unlisted tokens."""
    raise NotImplementedError


def share_of(law: PartialLaw, index: int) -> Interval:
    """The interval of the probability of the listed token ``law.ids[index]``."""
    raise NotImplementedError


def as_partial(law: Law) -> PartialLaw:
    """A complete law as a partial one: every possible token is listed, the others are impossible;
    ``low`` and ``high`` hold the rounding bound of the weights. One object a call: roles that share
    a law must share the result as well."""
    raise NotImplementedError


def contradiction(law: PartialLaw) -> str:
    """Why no distribution satisfies the constraints, as a clause for a message; "" if one does."""
    raise NotImplementedError
