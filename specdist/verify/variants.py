"""The variants of one position: what its output law would be with parts of its setup repaired."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import combinations

from specdist.errors import SpecdistError
from specdist.exact.law import Law, RationalLaw
from specdist.exact.vector import ExactVector
from specdist.exact.vectors import same_law
from specdist.model.role import TESTED_ROLES, Role
from specdist.model.verdict import Verdict
from specdist.rules.keep_rules import read_keep
from specdist.rules.outcomes import Outcomes, RoleLaws
from specdist.verify.comparison import Comparison, compare
from specdist.verify.position import drafts_outside_test
from specdist.verify.repairs import (
    EXCLUSIVE,
    NUMERIC,
    TO_REFERENCE,
    all_of,
    candidates,
    repaired,
)
from specdist.verify.setup import Setup

MOST = 64
"""Enumerations after which the search for repairs ends."""

Repair = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Repairs:
    """The inclusion-minimal sets that were found, after so many enumerations.

    ``cut_off``: the search ended before all sets were tried; ``known_only``: nothing but sets known
    from elsewhere was tried.
    """

    sets: tuple[Repair, ...] = ()
    tried: int = 0
    cut_off: bool = False
    known_only: bool = False


class Variants:
    """Enumerates one position with parts of its setup changed, over one set of vectors."""

    def __init__(self, setup: Setup, laws: RoleLaws) -> None:
        """``laws`` are those of the position as it is."""
        self.setup = setup
        self.tried = 0
        self.most = MOST
        self._zero_draft = laws.numerics.zero_draft
        whole = not setup.given and all(law.mass == 1 for law in setup.laws.values())
        self._vectors: dict[Role | str, ExactVector] = {}
        for name, vector in laws.vectors.items() if whole else setup.vectors().items():
            self._vectors[name] = vector
        self._by_content = {_content(law): self._vectors[role] for role, law in setup.laws.items()}
        self._classes: list[Law] = []
        self._class_of: dict[Hashable, int] = {}
        self._restored: dict[Hashable, bool] = {}
        self._goals: dict[Hashable, ExactVector | None] = {}

    def laws(self, variant: Setup) -> RoleLaws:
        """The laws of a variant whose laws are among those of the position."""
        if variant.given and variant.given is not self.setup.given:
            return variant.role_laws(zero_draft=self._zero_draft)
        known = {**self._vectors}
        for role, law in variant.laws.items():
            known[role] = self._by_content[_content(law)]
        return variant.role_laws(zero_draft=self._zero_draft, vectors=known)

    def outcomes(self, variant: Setup) -> Outcomes:
        """The outcomes of a variant. Raises SpecdistError where it has none."""
        return variant.outcomes(self.laws(variant))

    def restores(self, variant: Setup) -> bool | None:
        """Whether the output law of a variant is proven to be the goal; None when the budget of
        enumerations is spent."""
        key = self.key(variant)
        if key not in self._restored:
            if self.tried >= self.most:
                return None
            self.tried += 1
            compared = self.compared(variant)
            self._restored[key] = compared is not None and compared.verdict is Verdict.EQUAL
        return self._restored[key]

    def differs(self) -> None:
        """Takes it as known that the position as it is misses the goal."""
        self._restored[self.key(self.setup)] = False

    def compared(self, variant: Setup) -> Comparison | None:
        """A variant's output law against the goal; None where one of them has no law."""
        try:
            laws = self.laws(variant)
            if self._leaves_zero_open(variant, laws):
                return None
            outcomes = variant.outcomes(laws)
            if not variant.rule.lossy(variant.use):
                return compare(outcomes, laws[Role.REFERENCE], variant.lossless_by_roles)
            own, proven = self.own_law(variant)
        except SpecdistError:
            return None
        return None if own is None else compare(outcomes, own, proven)

    def _leaves_zero_open(self, variant: Setup, laws: RoleLaws) -> bool:
        """Whether a token is drafted whose tested mass is 0, and nothing says what comes of it."""
        asked = self.setup.numerics.zero_draft == "error" and variant.rule.divides
        return asked and drafts_outside_test(laws)

    def own_law(self, variant: Setup) -> tuple[ExactVector | None, bool]:
        """The law that the rule of a variant aims at, and whether the variant is that setup."""
        aimed = self.aim(variant)
        key = self.key(aimed)
        if key not in self._goals:
            outcomes = self.outcomes(aimed)
            law = outcomes.accepted + outcomes.recovered
            self._goals[key] = None if outcomes.unassigned else law
        return self._goals[key], key == self.key(variant)

    def aim(self, variant: Setup) -> Setup:
        """Everything repaired that the rule leaves open, on the law drafted from. A keep rule
        before the test, whose dropped tokens are drawn from the target, becomes a constant."""
        names = {*(role.value for role in TO_REFERENCE), "residual_draft", *NUMERIC[:-1]}
        if Role.ACCEPT_DRAFT not in variant.one_hot:
            names.add("accept_draft")
        proposal = variant.proposal
        if proposal is None or proposal.dropped != "target" or proposal.after_test:
            return repaired(variant, {*names, "keep"})
        laws = self.laws(variant)
        kept = variant.share(laws)(laws[Role.DRAFTED_FROM]).total()
        constant = replace(proposal, keep=read_keep(f"share:{kept}"))
        return replace(repaired(variant, names), proposal=constant, keep=None)

    def key(self, variant: Setup) -> Hashable:
        """Two variants with one key are the same setup."""
        laws = tuple((role, self._class(law, role)) for role, law in sorted(variant.laws.items()))
        rows = (variant.keep is None, variant.given is self.setup.given)
        model = (variant.numerics, variant.use.text, variant.proposal, rows)
        return laws, variant.one_hot, model

    def _class(self, law: Law, role: Role) -> tuple[int, Fraction]:
        content = _content(law)
        if content not in self._class_of:
            for number, known in enumerate(self._classes):
                if same_law(known, law):
                    self._class_of[content] = number
                    break
            else:
                self._class_of[content] = len(self._classes)
                self._classes.append(law)
        return self._class_of[content], law.mass if role in TESTED_ROLES else Fraction(1)


def minimal_repairs(variants: Variants, within: Sequence[str] | None = None) -> Repairs:
    """Every inclusion-minimal set of repairs, as far as `MOST` enumerations go; with ``within``
    only sets of these repairs."""
    setup = variants.setup
    variants.differs()
    names = candidates(setup) if within is None else list(within)
    found: list[Repair] = []
    for size in range(1, len(names) + 1):
        for chosen in combinations(names, size):
            if any(pair <= set(chosen) for pair in EXCLUSIVE):
                continue
            if any(set(smaller) <= all_of(chosen) for smaller in found):
                continue
            restored = variants.restores(repaired(setup, chosen))
            if restored is None:
                found = found or _one_found(variants, names)
                return Repairs(_told_first(found), variants.tried, cut_off=True)
            if restored:
                found.append(chosen)
    return Repairs(_told_first(found), variants.tried)


def _one_found(variants: Variants, names: Sequence[str]) -> list[Repair]:
    """Beyond the budget: everything repaired, less what is not needed; only if that is proven to be
    inclusion-minimal within half as many enumerations again."""
    variants.most = MOST + MOST // 2
    for other_way in ("drafted_from", "accept_draft"):
        left_out = {other_way} | ({"recovery"} if "rule" in names else set())
        needed = [name for name in names if name not in left_out]
        if not variants.restores(repaired(variants.setup, needed)):
            continue
        for name in list(needed):
            rest = [other for other in needed if other != name]
            if variants.restores(repaired(variants.setup, rest)):
                needed = rest
        if _is_minimal(variants, tuple(needed)):
            return [tuple(needed)]
    return []


def _told_first(found: list[Repair]) -> tuple[Repair, ...]:
    """The repairs of verification before those of the draft: they leave its law as it is."""
    return tuple(sorted(found, key=lambda repair: ("drafted_from" in repair, len(repair))))


def known_repairs(variants: Variants, known: Collection[Repair]) -> Repairs:
    """Those of some sets that are inclusion-minimal here as well."""
    found = [chosen for chosen in known if _is_minimal(variants, chosen)]
    return Repairs(tuple(found), variants.tried, known_only=True)


def _is_minimal(variants: Variants, chosen: Repair) -> bool:
    setup = variants.setup
    if not variants.restores(repaired(setup, chosen)):
        return False
    smaller = [part for size in range(1, len(chosen)) for part in combinations(chosen, size)]
    return all(variants.restores(repaired(setup, part)) is False for part in smaller)


def _content(law: Law) -> Hashable:
    """What identifies the numbers of a law, whatever mass it carries."""
    if isinstance(law, RationalLaw):
        return id(law.values)
    return (id(law.dense), id(law.ids), id(law.codes), id(law.table))
