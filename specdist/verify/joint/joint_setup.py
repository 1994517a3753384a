"""Everything that decides the outcomes of a step over conditional models, and their listing."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from typing import Literal

from specdist.errors import SettingsError
from specdist.exact.bounded import OpenComparisonError, most
from specdist.exact.rational_vector import relative_to_absolute
from specdist.model.conditional import Prefix
from specdist.model.draft_tree import DraftTree
from specdist.model.numerics import Numerics
from specdist.model.proposal import Proposal
from specdist.model.recipe import RecipeStep
from specdist.model.role import ONE_HOT_ROLES, Role
from specdist.rules.joint.draws import proposal_count, proposals
from specdist.rules.joint.joint_rule import JointRule
from specdist.rules.joint.outcomes import Drafted, Outcome, PrefixLaws
from specdist.rules.lengths.chosen_length import ChosenLength
from specdist.rules.rule import Rule
from specdist.verify.joint.admission import (
    Profile,
    admission_profile,
    keep_row,
    verified_proposals,
)
from specdist.verify.joint.chain import Chain, position_roles
from specdist.verify.joint.gathering import Gathered, gather, lists_all, too_many
from specdist.verify.joint.prefix_laws import ModelLaws
from specdist.verify.joint.rounded_laws import RoundedLaws
from specdist.verify.repairs import TO_REFERENCE
from specdist.verify.setup import Setup

_UNKNOWN = Fraction(2)
"""No two laws are further apart in L1: nothing is known of a rule's rounding."""

_CLOSE_LENGTH = "draft: whether a token is verified is closer than the weights are rounded"

Route = Literal["prefixes", "proposals"]


@dataclass(frozen=True)
class JointSetup:
    """One step, ready to be enumerated: a rule over proposals (``joint``), or a single-position
    rule tested position after position along a chain. ``limit`` is the most outcomes to list;
    with a ``length`` rule, ``proposal`` says what follows on the last verified token."""

    laws: ModelLaws
    tree: DraftTree
    rule: Rule
    use: RecipeStep
    numerics: Numerics
    proposal: Proposal | None
    joint: JointRule | None
    limit: int
    length: ChosenLength | None = None
    _setups: dict[tuple[object, ...], Setup] = field(
        default_factory=dict, init=False, compare=False
    )

    def __post_init__(self) -> None:
        if self.joint is None and not self.tree.is_chain:
            raise SettingsError(
                f"rule {self.use.text} tests one draft token a position, and the proposal is "
                f"{self.tree.shape}",
                expected="a chain, or a rule over trees such as rrs, target-only or traversal",
                advice="specdist explain rules",
            )
        if self.joint is not None and self.joint.check is not None:
            self.joint.check(self.tree, self.laws, self.use)

    @property
    def lossy(self) -> bool:
        rule = self.rule if self.joint is None else self.joint
        return rule.lossy(self.use)

    @property
    def lossless(self) -> bool:
        rule = self.rule if self.joint is None else self.joint
        return rule.lossless(self.use)

    @property
    def open_roles(self) -> frozenset[Role]:
        """Roles that may be filled in any way without being a fault."""
        return frozenset() if self.joint is None else self.joint.open_roles

    @property
    def as_specified(self) -> bool:
        """Whether the roles alone prove that the joint law is the target's, whatever was rounded:
        a lossless rule in real arithmetic that tests every draft token with its own law."""
        laws = self.laws
        plain = self.numerics.ideal and self._tests_what_it_drafts and not self._foreign
        targets = all(laws.same(role, Role.REFERENCE) for role in TO_REFERENCE)
        one_hot = len(laws.one_hot) == len(ONE_HOT_ROLES)
        drawn = self.tree.is_chain or (self.joint and self.tree.siblings in self.joint.siblings)
        drafts = not laws.one_hot and all(
            laws.same(role, Role.DRAFTED_FROM) for role in ONE_HOT_ROLES
        )
        return plain and self.lossless and targets and (one_hot or bool(drawn and drafts))

    @property
    def _foreign(self) -> bool:
        return self.joint is not None and self.joint.foreign

    @property
    def _tests_what_it_drafts(self) -> bool:
        """Whether no draft token is dropped for what it is: none at all, or by a length rule that
        decides before the draw."""
        if self.length is None:
            return self.proposal is None
        fresh = self.proposal is None or self.proposal == Proposal(None)
        return self.joint is None and fresh and self.length.predictable

    @property
    def route(self) -> Route:
        """How the law is found: by recursion over prefixes, or proposal by proposal."""
        walks = self.joint is None or (self.joint.walk is not None and self.length is None)
        return "prefixes" if walks else "proposals"

    @cached_property
    def profile(self) -> Profile:
        """``Pr(length >= k | x_1 .. x_k)`` of the length rule, by drafted prefix."""
        if self.length is None:
            raise ValueError("the step has no length rule")
        limits = self.length, self.limit
        try:
            return admission_profile(self.tree, self.laws, RoundedLaws(self.laws), *limits)
        except OpenComparisonError:
            self.laws.met.open[_CLOSE_LENGTH] = None
            return admission_profile(self.tree, self.laws, self.laws, *limits)

    def size(self) -> int:
        """How many outcomes there are at most, one for every kept path and token that follows it;
        known before they are listed."""
        return self._stops() * self.laws.size

    def _stops(self) -> int:
        """The kept paths of the listing, each with the law of what follows."""
        depth = self.tree.depth
        if self.joint is None:
            return int(sum(self.laws.size**level for level in range(depth + 1)))
        if self.route == "prefixes" and self.joint.walk_size is not None:
            return self.joint.walk_size(self.tree, self.laws.size)
        return proposal_count(self.tree, self.laws) * (depth + 1)

    def refuse_large(self) -> None:
        """Raises `SettingsError` where more is to be listed than the limit."""
        size = self.size()
        if size > self.limit:
            raise too_many(size, self.limit, self._what_fits())

    def gathered(self, zero_draft: str | None = None) -> Gathered:
        """The masses of the whole step. Raises `SettingsError` for a step that is too large."""
        self.refuse_large()
        found = self._gathered(zero_draft)
        if self.length is not None and self.length.rule.lengths is not None:
            found.error += self._profile_error
        return found

    def _gathered(self, zero_draft: str | None) -> Gathered:
        if self.joint is not None:
            return self._gathered_over_proposals(self.joint)
        chain = self.chain(zero_draft)
        found = gather(chain.outcomes(), self.laws.size, self.limit)
        row = relative_to_absolute(self.laws.met.bound)
        found.error += min(chain.length * chain.error + row, _UNKNOWN)
        return found

    @property
    def _profile_error(self) -> Fraction:
        """What rounding does to a profile that is a mean over the tokens behind a prefix.

        ``Q(z) Pr(l >= k | z)`` is a sum of masses of blocks, whose law is off by n rows; keeping
        one factor and rounding the other moves it by at most 2 n rows, and the law of the lengths,
        a difference of two such for each of n + 1 lengths, by at most ``4 n (n + 1)`` rows.
        """
        n = self.tree.depth
        return min(4 * n * (n + 1) * relative_to_absolute(self.laws.met.bound), _UNKNOWN)

    def _gathered_over_proposals(self, joint: JointRule) -> Gathered:
        """With the rounding of the rows carried through the rule; where that leaves a comparison
        open, and for a foreign rule, the represented numbers, of whose error nothing is known."""
        try:
            if not joint.foreign:
                outcomes = self._outcomes(joint, RoundedLaws(self.laws))
                return gather(outcomes, self.laws.size, self.limit)
        except OpenComparisonError:
            pass
        found = gather(self._outcomes(joint, self.laws), self.laws.size, self.limit)
        found.error += _UNKNOWN if self.laws.met.bound else 0
        return found

    def _outcomes(self, joint: JointRule, laws: PrefixLaws) -> Iterator[Outcome]:
        if joint.walk is not None and self.length is None:
            yield from joint.walk(self.tree, laws, self.use)
            return
        for drafted, weight in self._proposals(laws):
            for outcome in joint.outcomes(drafted, laws, self.use):
                mass, error = weight * outcome.mass, most(weight) * outcome.error
                whole = len(outcome.accepted) == self.tree.depth  # not where a length cut the chain
                bonus = outcome.bonus and (self.length is None or whole)
                yield replace(outcome, mass=mass, error=error, bonus=bonus)

    def _proposals(self, laws: PrefixLaws) -> Iterator[tuple[Drafted, Fraction]]:
        if self.length is None:
            return proposals(self.tree, laws)
        return verified_proposals(self.tree, laws, self.profile)

    def chain(self, zero_draft: str | None = None) -> Chain:
        """The recursion of a position-wise rule."""
        return Chain(self.tree.depth, self.laws, self._setup_at, zero_draft)

    def _setup_at(self, prefix: Prefix) -> Setup:
        laws = {role: self.laws.exact(role, prefix) for role in position_roles(self.laws)}
        keep = None
        if self.length is not None:
            keep = keep_row(self.profile, prefix, self.laws.size)
        key = (*map(id, laws.values()), keep)
        if key not in self._setups:
            self._setups[key] = Setup(
                laws=laws,
                one_hot=self.laws.one_hot,
                rule=self.rule,
                use=self.use,
                numerics=self.numerics,
                proposal=self.proposal,
                keep=keep,
                in_fractions=True,
            )
        return self._setups[key]

    def _what_fits(self) -> str:
        """The longest chain, or the shallowest cut of the tree, that is small enough."""
        for depth in range(self.tree.depth - 1, 0, -1):
            smaller = replace(self, tree=self.tree.cut(depth))
            if smaller.size() <= self.limit:
                if self.tree.is_chain:
                    return f"draft length {depth} lists {smaller.size():,}"
                return f"the tree cut at depth {depth} lists {smaller.size():,}"
        return lists_all(self.size())
