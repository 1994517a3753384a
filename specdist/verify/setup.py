"""Everything that decides the outcomes of one position, and its enumeration."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction

from specdist.exact.law import Law, RationalLaw
from specdist.exact.rational_vector import RationalVector
from specdist.exact.vector import ExactVector
from specdist.exact.vectors import rational, same_law, vectors_of_laws
from specdist.model.numerics import EXACT, Numerics
from specdist.model.proposal import Proposal
from specdist.model.recipe import RecipeStep
from specdist.model.role import ONE_HOT_ROLES, TARGET_ROLES, TESTED_ROLES, Role
from specdist.rules.keep_rules import captured_share, keep_rule_named
from specdist.rules.outcomes import Outcomes, RoleLaws, Share
from specdist.rules.proposals import drafted_laws, proposal_outcomes
from specdist.rules.rule import Rule, target_as_reference


@dataclass(frozen=True, slots=True)
class Setup:
    """One position, ready to be enumerated.

    ``laws`` by role; the roles in ``one_hot`` are the point mass at the drafted token. ``keep``
    holds captured keep probabilities by token, ``given`` the captured rows of the rule `given`.
    ``in_fractions``: enumerated in fractions, also where rows were dumped.
    """

    laws: Mapping[Role, Law]
    one_hot: frozenset[Role]
    rule: Rule
    use: RecipeStep
    numerics: Numerics = EXACT
    proposal: Proposal | None = None
    keep: tuple[Fraction, ...] | None = None
    given: Mapping[str, tuple[Fraction, ...]] = field(default_factory=dict)
    in_fractions: bool = False

    def same(self, first: Role, second: Role) -> bool:
        """Whether two roles are one real-valued law, sums included where rows keep their own."""
        mine, other = self.laws[first], self.laws[second]
        return self._mass(first) == self._mass(second) and same_law(mine, other)

    def repaired(self) -> Setup:
        """The same rule as a correct engine would run it: every role repaired, in real arithmetic,
        without dropped tokens."""
        target, drafted = self.laws[Role.REFERENCE], self.laws[Role.DRAFTED_FROM]
        laws = {role: target if role in TARGET_ROLES else drafted for role in self.laws}
        one_hot = frozenset(ONE_HOT_ROLES) if Role.ACCEPT_DRAFT in self.one_hot else frozenset()
        laws |= {role: drafted for role in ONE_HOT_ROLES if role not in one_hot}
        return replace(self, laws=laws, one_hot=one_hot, numerics=EXACT, proposal=None, keep=None)

    def with_reference(self, role: Role) -> Setup:
        """The same position if the law of ``role`` were the reference."""
        return replace(self, laws={**self.laws, Role.REFERENCE: self.laws[role]})

    def _mass(self, role: Role) -> Fraction:
        return self.laws[role].mass if role in TESTED_ROLES else Fraction(1)

    @property
    def lossless_by_roles(self) -> bool:
        """Whether the roles alone prove that the output law is the reference."""
        if not self.numerics.ideal or self.proposal is not None or not self.rule.lossless(self.use):
            return False
        if any(self._mass(role) != 1 for role in TESTED_ROLES if role in self.laws):
            return False
        laws = RoleLaws({}, self.one_hot, self.same)
        single = self.laws[Role.REFERENCE].support == 1
        return self.rule.sufficient(laws) or (single and target_as_reference(laws))

    def vectors(self, fractions: bool = False) -> dict[Role | str, ExactVector]:
        """The laws as exact vectors by role, the captured rows by name, each of sum one; as
        ``fractions`` they are the readable twin."""
        everything: dict[Role | str, Law] = dict(self.laws.items())
        everything |= {name: _law_of(values) for name, values in self.given.items()}
        if fractions or self.in_fractions:
            return {name: RationalVector.of(rational(law)) for name, law in everything.items()}
        return vectors_of_laws(everything, self._whole_vocabulary)

    def role_laws(
        self,
        fractions: bool = False,
        zero_draft: str | None = None,
        vectors: Mapping[Role | str, ExactVector] | None = None,
    ) -> RoleLaws:
        """The laws as a rule takes them. ``vectors`` are those of `vectors`, where they are known
        already."""
        numerics = self.numerics
        if zero_draft is not None:
            numerics = replace(numerics, zero_draft=zero_draft)
        if any(self._mass(role) != 1 for role in self.laws):  # a cast row keeps its own sum too
            numerics = replace(numerics, unnormalised=True)
        made = self.vectors(fractions) if vectors is None else vectors
        by_role = {role: self._scaled(role, made[role]) for role in self.laws}
        captured = {
            name: made[name].scaled(sum(values, Fraction(0))) for name, values in self.given.items()
        }
        return RoleLaws(by_role, self.one_hot, self.same, numerics, captured or None)

    @property
    def _whole_vocabulary(self) -> bool:
        return self.numerics.whole_vocabulary or self.rule.whole_vocabulary(self.use)

    def _scaled(self, role: Role, vector: ExactVector) -> ExactVector:
        mass = self._mass(role)
        return vector if mass == 1 else vector.scaled(mass)

    def share(self, laws: RoleLaws) -> Share:
        """The keep rule on the laws of this position."""
        if self.keep is not None:
            return captured_share(dict(enumerate(self.keep)), Fraction(0))
        if self.proposal is None or self.proposal.keep is None:
            raise ValueError("the position has no keep rule")
        rule = keep_rule_named(self.proposal.keep.name)
        one_hot = Role.ACCEPT_DRAFT in laws.one_hot
        return rule.share(
            self.proposal.keep, laws[Role.DRAFTED_FROM if one_hot else Role.ACCEPT_DRAFT]
        )

    def drafted_laws(self, laws: RoleLaws) -> RoleLaws:
        """The laws as a table shows them: see `proposals.drafted_laws`."""
        if self.proposal is None:
            return laws
        return drafted_laws(laws, self.proposal, self.share(laws))

    def outcomes(self, laws: RoleLaws) -> Outcomes:
        """What the rule yields on these laws, dropped draft tokens included."""
        if self.proposal is None:
            return self.rule.outcomes(laws, self.use)
        return proposal_outcomes(self.rule, self.use, laws, self.proposal, self.share(laws))


def _law_of(values: tuple[Fraction, ...]) -> Law:
    """Numbers by token as a law and its mass; nothing at all is a law of mass 0."""
    total = sum(values, Fraction(0))
    if not total:
        even = Fraction(1, len(values))
        return RationalLaw((even,) * len(values), mass=Fraction(0))
    return RationalLaw(tuple(value / total for value in values), mass=total)


def is_linear(setup: Setup) -> bool:
    """Whether no quotient of two different laws is formed, whose fractions explode."""
    if setup.rule.name != "token" or not setup.numerics.ideal:
        return False
    if setup.one_hot:
        return len(setup.one_hot) == len(ONE_HOT_ROLES)
    return setup.laws[Role.DRAFTED_FROM] is setup.laws[Role.ACCEPT_DRAFT]
