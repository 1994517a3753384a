"""What a report says of positions whose rows are known in part, or with rounding."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from specdist.exact.interval import Interval
from specdist.model.report import RoleUse
from specdist.model.verdict import Verdict


@dataclass(frozen=True, slots=True)
class ListedCounts:
    """How many tokens are listed on both sides, on one only, and on neither (None: unknown)."""

    both: int
    target_only: int
    draft_only: int
    neither: int | None


@dataclass(frozen=True, slots=True)
class BoundedToken:
    """One listed token, in intervals."""

    id: int
    text: str | None
    reference: Interval
    drafted: Interval
    accepted: Interval
    output: Interval


@dataclass(frozen=True, slots=True)
class BoundedPosition:
    """One drafted position of which the rows leave something open.

    ``target_rest`` and ``draft_rest`` are the masses of the unlisted tokens, ``half_width`` the
    larger rounding of a stored value. ``total_variation`` is between output law and reference;
    ``by_identity``: it is 0 whatever is left open. ``reference_acceptance_rate`` is
    what the rule would reach with every role repaired. ``vocab_size`` is None where nothing says
    how many tokens there are.
    """

    index: int
    verdict: Verdict
    vocab_size: int | None
    acceptance_rate: Interval
    reference_acceptance_rate: Interval
    total_variation: Interval
    by_identity: bool
    target_rest: Interval
    draft_rest: Interval
    half_width: Fraction
    counts: ListedCounts
    tokens: tuple[BoundedToken, ...]
    roles: tuple[RoleUse, ...]


@dataclass(frozen=True, slots=True)
class BoundedBonusToken:
    """One listed token of a bonus row, in intervals."""

    id: int
    text: str | None
    reference: Interval
    output: Interval


@dataclass(frozen=True, slots=True)
class BoundedBonus:
    """The bonus row of a block, where it leaves something open: the law of the bonus token against
    the reference. ``rest`` is the reference's mass of the unlisted tokens."""

    verdict: Verdict
    vocab_size: int | None
    total_variation: Interval
    by_identity: bool
    rest: Interval
    half_width: Fraction
    tokens: tuple[BoundedBonusToken, ...]
    roles: tuple[RoleUse, ...]
