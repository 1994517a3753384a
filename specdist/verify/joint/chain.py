"""Position-wise rules on a chain: the law of a step by recursion over accepted prefixes.

A rule that tests position after position, with a coin of its own for each, is at an accepted
prefix z what it is at one position with the rows after z:

    reach(()) = 1,   reach(zy) = reach(z) accepted_z(y),   emitted(zy) += reach(z) recovered_z(y),

and after the last draft token the bonus token is drawn from `bonus_from`. Keep rules, numerics and
every single-position rule are those of `Setup`. A length rule enters as the probability that x_k is
verified given that x_1 .. x_(k-1) were: ``Pr(l >= k | x_1..x_k) / Pr(l >= k-1 | x_1..x_(k-1))``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction

from specdist.exact.rational_vector import RationalVector
from specdist.exact.vector import ExactVector
from specdist.model.conditional import Prefix
from specdist.model.role import DRAFT_ROLES, TARGET_ROLES, Role
from specdist.rules.joint.outcomes import Outcome
from specdist.rules.outcomes import Outcomes
from specdist.verify.joint.prefix_laws import ModelLaws
from specdist.verify.position import drafts_outside_test
from specdist.verify.setup import Setup

_ZERO, _ONE = Fraction(0), Fraction(1)
SetupAt = Callable[[Prefix], Setup]


@dataclass(slots=True)
class Chain:
    """A chain of ``length`` draft tokens under one rule. ``setup_at`` gives the position after a
    prefix; ``zero_draft`` is the reading of target/0 where the options leave it open.

    After `outcomes`, ``error`` is how far the real outcomes of one position may be, in L1, at most.
    """

    length: int
    laws: ModelLaws
    setup_at: SetupAt
    zero_draft: str | None = None
    error: Fraction = _ZERO

    def outcomes(self) -> Iterator[Outcome]:
        """Every outcome of the step, of total mass 1."""
        known: dict[tuple[object, ...], Outcomes] = {}
        reached: dict[Prefix, Fraction] = {(): _ONE}
        for _ in range(self.length):
            following: dict[Prefix, Fraction] = {}
            for prefix, mass in reached.items():
                found = self._position(prefix, known)
                yield from _stops(prefix, mass, found)
                for token, accepted in enumerate(_entries(found.accepted)):
                    if accepted:
                        following[(*prefix, token)] = mass * accepted
            reached = following
        for prefix, mass in reached.items():
            yield Outcome(mass, prefix, self.laws.law(Role.BONUS_FROM, prefix), bonus=True)

    def _position(self, prefix: Prefix, known: dict[tuple[object, ...], Outcomes]) -> Outcomes:
        """What the rule yields after ``prefix``; prefixes with the same laws share it."""
        setup = self.setup_at(prefix)
        key = (*map(id, setup.laws.values()), setup.keep)
        if key not in known:
            laws = setup.role_laws(fractions=True, zero_draft=self.zero_draft)
            known[key] = found = setup.outcomes(laws)
            self.error = max(self.error, found.accepted.error + found.recovered.error)
        return known[key]

    def drafts_outside_test(self) -> bool:
        """Whether a token may be drafted whose tested probability is 0."""
        level: list[Prefix] = [()]
        seen: dict[int, Setup] = {}
        for _ in range(self.length):
            following = []
            for prefix in level:
                setup = self.setup_at(prefix)
                fresh = setup.rule.divides and id(setup) not in seen
                if fresh and drafts_outside_test(setup.role_laws(fractions=True)):
                    return True
                seen[id(setup)] = setup
                drafted = self.laws.law(Role.DRAFTED_FROM, prefix)
                following += [(*prefix, token) for token, mass in enumerate(drafted) if mass]
            level = following
        return False


def position_roles(laws: ModelLaws) -> list[Role]:
    """The roles that have a law of their own."""
    return [role for role in (*TARGET_ROLES, *DRAFT_ROLES) if role not in laws.one_hot]


def _stops(prefix: Prefix, mass: Fraction, found: Outcomes) -> Iterator[Outcome]:
    recovered = _entries(found.recovered)
    total = sum(recovered, _ZERO)
    if total:
        law = tuple(value / total for value in recovered)
        yield Outcome(mass * total, prefix, law)
    if found.unassigned:
        yield Outcome(mass * found.unassigned, prefix, None, unnamed=True)


def _entries(vector: ExactVector) -> tuple[Fraction, ...]:
    if not isinstance(vector, RationalVector):
        raise TypeError("a chain is enumerated in fractions")
    return vector.entries
