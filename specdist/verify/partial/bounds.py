"""Acceptance rate and total variation of one position whose rows are known in part, as intervals.

With P = `accept_target`, S = `residual_target`, D = `drafted_from`, Q = `accept_draft`,
U = `residual_draft` and the reference R:

    token rule, D and Q one distribution    acceptance = sum min(P, Q)
    token rule, one-hot test; exact match   acceptance = sum D P
    output of a rule that is sufficient for its target P    TV(P, R) = 1 - sum min(P, R)

Where P is R itself, as one unknown distribution, that total variation is 0 whatever is not listed.
Everything else is bounded token by token (`exact.output_bounds`). A grid of uniforms moves the
chance of acceptance by one of its points at most, and so the output law. What cannot be bounded has
the interval from 0 to 1, and ``open`` says why.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property

from specdist.exact.interval import Interval
from specdist.exact.output_bounds import Emission, PartialRoles, TokenBounds
from specdist.exact.overlap_bounds import overlap
from specdist.exact.partial_law import PartialLaw
from specdist.model.numerics import Numerics
from specdist.model.recipe import RecipeStep
from specdist.model.role import ONE_HOT_ROLES, Role
from specdist.rules.rule import Rule, target_as_reference
from specdist.verify.partial.laws import PartialLaws
from specdist.verify.partial.listing import likeliest
from specdist.verify.partial.products import inner_product, product_of, share_at

ANYTHING = Interval(Fraction(0), Fraction(1))
_ZERO, _ONE = Fraction(0), Fraction(1)
SUMMED = 4_096
"""Tokens that are bounded one by one where one of test and residual is one-hot: the likeliest."""

_ROLES = (
    Role.REFERENCE,
    Role.ACCEPT_TARGET,
    Role.RESIDUAL_TARGET,
    Role.DRAFTED_FROM,
    Role.ACCEPT_DRAFT,
    Role.RESIDUAL_DRAFT,
)
BOUNDED_RULES = ("token", "one-hot", "exact-match")


@dataclass(frozen=True, slots=True)
class RuleBounds:
    """What is proven of one position. ``variation`` is between output law and reference,
    ``by_identity``: it is 0 whatever is left open. ``reference_acceptance`` is what the
    rule would reach with every role repaired. ``open`` says what keeps acceptance and output from
    being bounded, "" where nothing does."""

    acceptance: Interval
    reference_acceptance: Interval
    variation: Interval
    by_identity: bool = False
    open: str = ""


class BoundedRule:
    """A rule on laws that are known in part."""

    def __init__(
        self, rule: Rule, use: RecipeStep, numerics: Numerics, laws: PartialLaws, left_open: str
    ) -> None:
        """``left_open`` is what keeps the whole position from being bounded."""
        one_hot = frozenset(ONE_HOT_ROLES)
        self.laws = replace(laws, one_hot=one_hot) if rule.name == "one-hot" else laws
        self._rule, self._use = rule, use
        compares = numerics.grid is not None and rule.name != "exact-match"
        self._slack = numerics.grid.step if compares and numerics.grid else _ZERO
        self._by_product = rule.name == "exact-match" or Role.ACCEPT_DRAFT in self.laws.one_hot
        self.left_open = left_open or unbounded(rule, use, numerics)

    @property
    def sufficient(self) -> bool:
        """Whether the roles alone prove that the output is the reference, in real arithmetic."""
        return self._is_sufficient(self.laws)

    @property
    def accepts_overlap(self) -> bool:
        """Whether the acceptance rate is ``sum min(P, Q)``, up to the grid of the uniform."""
        laws = self.laws
        return not self._by_product and laws.same(Role.DRAFTED_FROM, Role.ACCEPT_DRAFT)

    def bounds(self) -> RuleBounds:
        """Acceptance rate and total variation."""
        if self.left_open:
            return RuleBounds(ANYTHING, ANYTHING, ANYTHING, open=self.left_open)
        acceptance = self._acceptance()
        return RuleBounds(
            acceptance=_widened(acceptance, self._slack),
            reference_acceptance=acceptance if self.sufficient else self._honest(),
            variation=_widened(self._variation(), self._slack),
            by_identity=self.sufficient and not self._slack,
        )

    def tokens(self, ids: Sequence[int]) -> list[TokenBounds]:
        """Reference, drafted, accepted and output mass of some tokens, as intervals."""
        if self.left_open or self._by_product:
            return [self._token(token) for token in ids]
        if self.laws.one_hot:
            tested = self._dense_test.tokens(ids)
            found = [replace(t, output=Interval(t.accepted.least, _ONE)) for t in tested]
        else:
            found = self._emission.tokens(ids)
        if not self._slack:
            return found
        return [
            replace(
                token,
                accepted=_widened(token.accepted, self._slack),
                output=_widened(token.output, self._slack),
            )
            for token in found
        ]

    def _token(self, token: int) -> TokenBounds:
        """One token where the drafted token is tested as one-hot, or nothing is bounded."""
        laws = self.laws
        reference = share_at(laws[Role.REFERENCE], token)
        drafted = share_at(laws[Role.DRAFTED_FROM], token)
        accepted, output = Interval(_ZERO, drafted.most), ANYTHING
        if self.left_open:
            return TokenBounds(token, reference, drafted, accepted, output)
        tested = share_at(laws[Role.ACCEPT_TARGET], token)
        accepted = _widened(product_of(drafted, tested), self._slack)
        if self._is_sufficient(self._for_used_target()):
            output = _widened(tested, self._slack)
        else:
            output = Interval(accepted.least, _ONE)
        return TokenBounds(token, reference, drafted, accepted, output)

    def _is_sufficient(self, laws: PartialLaws) -> bool:
        if self.left_open or not self._rule.lossless(self._use):
            return False
        roles = laws.as_roles
        single = laws.point(Role.REFERENCE) is not None and target_as_reference(roles)
        return single or self._rule.sufficient(roles)

    def _acceptance(self) -> Interval:
        laws = self.laws
        if self._by_product:
            return inner_product(laws[Role.DRAFTED_FROM], laws[Role.ACCEPT_TARGET])
        if self.laws.one_hot:
            # Only the residual is one-hot: it plays no part in what is accepted.
            return self._dense_test.acceptance
        return self._emission.acceptance

    def _honest(self) -> Interval:
        reference, drafted = self.laws[Role.REFERENCE], self.laws[Role.DRAFTED_FROM]
        return (inner_product if self._by_product else overlap)(reference, drafted)

    def _variation(self) -> Interval:
        if self.sufficient:
            return Interval.of(0)
        if self._is_sufficient(self._for_used_target()):
            return distance(self.laws[Role.REFERENCE], self.laws[Role.ACCEPT_TARGET])
        if not self.laws.one_hot:
            return self._emission.distance
        found = self.tokens(likeliest(self.laws[Role.REFERENCE], SUMMED))
        above = sum((max(t.output.least - t.reference.most, _ZERO) for t in found), _ZERO)
        return Interval(min(above, _ONE), _ONE)

    def _for_used_target(self) -> PartialLaws:
        """The laws if the target of the test were the reference."""
        return self.laws.repaired(Role.REFERENCE, Role.ACCEPT_TARGET)

    @cached_property
    def _emission(self) -> Emission:
        """Token verification with a draft that is tested and subtracted as rows."""
        return Emission(PartialRoles(*(self.laws[role] for role in _ROLES)))

    @cached_property
    def _dense_test(self) -> Emission:
        """The same with the residual that belongs to the test."""
        laws = self.laws.repaired(Role.RESIDUAL_DRAFT, Role.ACCEPT_DRAFT)
        return Emission(PartialRoles(*(laws[role] for role in _ROLES)))


def distance(first: PartialLaw, second: PartialLaw) -> Interval:
    """Total variation, ``1 - sum min(p, q)``."""
    return Interval.of(1) - overlap(first, second)


def unbounded(rule: Rule, use: RecipeStep, numerics: Numerics) -> str:
    """What keeps a rule from being bounded on rows that are known in part; "" if nothing does."""
    if rule.name not in BOUNDED_RULES:
        return f"rule {use.text} has no bounds for rows that are known in part"
    if rule.name == "token" and use.word("recovery") != "residual":
        return f"recovery {use.word('recovery')} has no bounds for rows that are known in part"
    for name, is_set in (
        ("ratio-epsilon", bool(numerics.ratio_epsilon)),
        ("residual-floor", bool(numerics.residual_floor)),
        ("unnormalised", numerics.unnormalised),
    ):
        if is_set:
            return f"{name} has no bounds for rows that are known in part"
    return ""


def _widened(interval: Interval, slack: Fraction) -> Interval:
    if not slack:
        return interval
    return Interval(interval.least - slack, interval.most + slack).within(_ZERO, _ONE)
