"""What token verification emits, in intervals, when the rows of its roles are partly unknown.

With D = ``drafted_from``, P = ``accept_target``, Q = ``accept_draft``, S = ``residual_target``,
U = ``residual_draft``, as in `rules/token_rule.py`, and R = ``reference``:

    accepted(x) = D(x) a(x),  a(x) = min(1, P(x) / Q(x)),
    output(y)   = accepted(y) + k [S(y) - U(y)]_+,  k = (1 - sum accepted) / sum [S - U]_+.

Roles that are one and the same object are one unknown distribution; different objects vary
independently. Where Q(x) may be 0 the chance a(x) is taken to be anything from 0 to 1, and where
the residual may be empty the recovered mass may go anywhere, or nowhere.

For every token ``output - R = a (D - Q) + (k [S - U]_+ - [P - Q]_+) + (P - R)``, because ``a Q +
[P - Q]_+ = P``. Terms vanish identically for roles that are one: if D is Q, S is P and U is Q,
then k is 1 and the output law is P. In any case acceptance and residual are one channel K from
drafted to emitted tokens, K D is the output law, and K Q is P if S is P and U is Q. A channel
brings no two distributions apart, so with TV for the total variation

    TV(output, R) <= TV(D, Q) + TV(K Q, P) + TV(P, R),  TV(K Q, P) <= TV(P, Q).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, reduce
from operator import add
from typing import NamedTuple

from specdist.exact.interval import Interval
from specdist.exact.overlap_bounds import overlap
from specdist.exact.partial_law import PartialLaw
from specdist.exact.spans import Spans, spans_of

_ZERO, _ONE = Fraction(0), Fraction(1)
_NONE = Interval.of(0)


@dataclass(frozen=True, slots=True)
class TokenBounds:
    """One token in intervals: its reference and drafted probability, accepted and output mass."""

    id: int
    reference: Interval
    drafted: Interval
    accepted: Interval
    output: Interval


class PartialRoles(NamedTuple):
    """One law a role."""

    reference: PartialLaw
    accept_target: PartialLaw
    residual_target: PartialLaw
    drafted_from: PartialLaw
    accept_draft: PartialLaw
    residual_draft: PartialLaw


def output_distance(
    reference: PartialLaw,
    accept_target: PartialLaw,
    residual_target: PartialLaw,
    drafted_from: PartialLaw,
    accept_draft: PartialLaw,
    residual_draft: PartialLaw,
) -> Interval:
    """A proven interval of the total variation between output law and reference (module
    docstring); [0, 0] where the target roles are one object and the draft roles are one."""
    roles = PartialRoles(
        reference, accept_target, residual_target, drafted_from, accept_draft, residual_draft
    )
    return Emission(roles).distance


def token_bounds(
    tokens: Sequence[int],
    reference: PartialLaw,
    accept_target: PartialLaw,
    residual_target: PartialLaw,
    drafted_from: PartialLaw,
    accept_draft: PartialLaw,
    residual_draft: PartialLaw,
) -> list[TokenBounds]:
    """Proven intervals for some tokens, given by their ids; see `output_distance`."""
    roles = PartialRoles(
        reference, accept_target, residual_target, drafted_from, accept_draft, residual_draft
    )
    return Emission(roles).tokens(tokens)


class Emission:
    """The roles of one position, with what several figures need worked out once. Raises ValueError
    where a role stands for no distribution (`overlap_bounds.contradiction`)."""

    def __init__(self, roles: PartialRoles) -> None:
        self.roles = roles
        self.same_draft = roles.drafted_from is roles.accept_draft
        self.same_residual = (
            roles.residual_target is roles.accept_target
            and roles.residual_draft is roles.accept_draft
        )
        self.same_reference = roles.accept_target is roles.reference

    @property
    def by_identity(self) -> bool:
        """Whether the output law is the reference, whatever is unknown."""
        return self.same_draft and self.same_residual and self.same_reference

    @cached_property
    def acceptance(self) -> Interval:
        """The interval of ``sum accepted``."""
        if self.same_draft:
            return overlap(self.roles.accept_target, self.roles.drafted_from)
        listed = self._listed
        least = max(listed.accepted.total().least, _ZERO)
        return Interval(least, 1 - listed.sure_rejections)

    @cached_property
    def residual(self) -> Interval:
        """The interval of ``sum [S - U]_+``."""
        return _distance(self.roles.residual_target, self.roles.residual_draft)

    @cached_property
    def distance(self) -> Interval:
        """The interval of the total variation between output law and reference."""
        roles = self.roles
        gap = _distance(roles.accept_target, roles.reference)
        if self.same_draft and self.same_residual:
            return gap
        most = gap.most + _distance(roles.drafted_from, roles.accept_draft).most
        if not self.same_residual:
            most += _distance(roles.accept_target, roles.accept_draft).most
        difference = self._listed.difference
        lost, gained = difference.losses(), difference.scaled(Interval.of(-1)).losses()
        elsewhere = 1 - self._listed.reference.total().least
        most = min(most, lost.most + max(elsewhere, _ZERO), _ONE)
        return Interval(min(max(lost.least, gained.least), most), most)

    def tokens(self, tokens: Sequence[int]) -> list[TokenBounds]:
        """Proven intervals for some tokens, given by their ids."""
        listed = _Listed(self, tokens)
        spans = (listed.reference, listed.drafted, listed.accepted, listed.output)
        return [
            TokenBounds(token, *(span.at(place).within(_ZERO, _ONE) for span in spans))
            for token, place in zip(tokens, listed.places, strict=True)
        ]

    @cached_property
    def _listed(self) -> _Listed:
        return _Listed(self, ())


class _Listed:
    """All tokens that some role lists, in intervals."""

    def __init__(self, emission: Emission, tokens: Sequence[int]) -> None:
        self.emission = emission
        self.places, spans = spans_of(emission.roles, tokens)
        self.reference, self.target, self.residual_target = spans[:3]
        self.drafted, self.tested, self.residual_draft = spans[3:]

    @cached_property
    def chance(self) -> Spans:
        return self.target.capped_quotient(self.tested)

    @cached_property
    def accepted(self) -> Spans:
        if self.emission.same_draft:
            return self.target.smaller(self.drafted)
        return self.drafted.times(self.chance)

    @property
    def sure_rejections(self) -> Fraction:
        """A lower bound of ``sum D (1 - a)``."""
        return max(self.drafted.times(self.chance.complement()).total().least, _ZERO)

    @cached_property
    def excess(self) -> Spans:
        """``[S - U]_+``."""
        return (self.residual_target - self.residual_draft).positive()

    @cached_property
    def factor(self) -> tuple[Fraction, Fraction | None]:
        """The ends of k; None where nothing bounds it from above."""
        if self.emission.same_draft and self.emission.same_residual:
            return _ONE, _ONE
        accepted, residual = self.emission.acceptance, self.emission.residual
        least = (1 - accepted.most) / residual.most if residual.most else _ZERO
        return least, (1 - accepted.least) / residual.least if residual.least else None

    @cached_property
    def recovered(self) -> Spans:
        least, most = self.factor
        rejected = 1 - self.emission.acceptance.least
        if most is None:
            return self.excess.scaled(Interval.of(least)).up_to(rejected)
        return self.excess.scaled(Interval(least, most)).at_most(rejected)

    @cached_property
    def difference(self) -> Spans:
        """``output - R``, by the two formulas of the module; not for roles that are all one."""
        emission = self.emission
        terms = []
        if not emission.same_draft:
            terms.append(self.chance.times(self.drafted - self.tested))
        least, most = self.factor
        if not emission.same_residual or most is None:
            terms.append(self.recovered - (self.target - self.tested).positive())
        elif not least == most == 1:
            terms.append(self.excess.scaled(Interval(least - 1, most - 1)))
        if not emission.same_reference:
            terms.append(self.target - self.reference)
        direct = self.accepted + self.recovered - self.reference
        return reduce(add, terms).meet(direct)

    @cached_property
    def output(self) -> Spans:
        if self.emission.same_draft and self.emission.same_residual:
            return self.target
        return (self.reference + self.difference).meet(self.accepted + self.recovered)


def _distance(first: PartialLaw, second: PartialLaw) -> Interval:
    """Total variation of two laws."""
    if first is second:
        return _NONE
    common = overlap(first, second)
    return Interval(1 - common.most, 1 - common.least)
