"""Repairs of a step over conditional models: which smallest changes bring its joint law back.

The repairs are those of `verify.repairs`, here for all prefixes of a step at once: a role takes the
law that a correct engine has there, the rule loses the options that are known mistakes, every
drafted token is tested, numerics are real numbers. A set is reported when the joint law it leads to
is the goal exactly, and no subset of it does that. The goal is the reference; for a lossy rule it
is the law of the rule itself with everything else repaired.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from itertools import combinations

from specdist.errors import SpecdistError
from specdist.exact.vectors import same_law
from specdist.model.conditional import Prefix
from specdist.model.draft_tree import DraftTree
from specdist.model.numerics import Numerics
from specdist.model.role import Role
from specdist.rules.joint.outcomes import PrefixLaws
from specdist.rules.joint.registry import read_joint_rule
from specdist.rules.registry import read_rule
from specdist.verify.joint.joint_setup import JointSetup
from specdist.verify.joint.output import JointLaw, expanded, joint_law
from specdist.verify.joint.prefix_laws import ModelLaws
from specdist.verify.joint.verdict import proven
from specdist.verify.repairs import EXCLUSIVE, NUMERIC, TO_REFERENCE
from specdist.verify.repairs import repaired as repaired_position
from specdist.verify.setup import Setup

MOST_TRIED = 64
_COMPARED_PREFIXES = 5_000

Repair = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class JointRepairs:
    """The inclusion-minimal sets that restore the goal, and how many sets were tried."""

    sets: tuple[Repair, ...] = ()
    tried: int = 0
    cut_off: bool = False


def candidates(setup: JointSetup) -> list[str]:
    """The repairs that change something, in the order in which they are tried and told."""
    laws, names = setup.laws, []
    by_row = Role.ACCEPT_DRAFT not in laws.one_hot
    sure = by_row and _drafts_for_sure(setup)
    if sure or not _same(setup, Role.ACCEPT_DRAFT, Role.DRAFTED_FROM):
        names += ["accept_draft"]
    if names or not _same(setup, Role.RESIDUAL_DRAFT, Role.ACCEPT_DRAFT):
        names += ["residual_draft"]
    if by_row and "accept_draft" in names:
        names += ["drafted_from"]
    judged = [role for role in TO_REFERENCE if role not in setup.open_roles]
    names += [r.value for r in judged if not _same(setup, r, Role.REFERENCE)]
    if not setup.lossy and not setup.lossless:
        names += ["rule"]
    if setup.proposal is not None or setup.length is not None:
        names += ["keep"]
    numerics = setup.numerics
    if not numerics.ideal or numerics.unnormalised:
        names += [n for n in NUMERIC if numerics_repaired(setup, [n]) != numerics]
    return names


def repaired(setup: JointSetup, names: Collection[str]) -> JointSetup:
    """The setup with some of its parts repaired."""
    sources = dict(setup.laws.sources)
    for role in TO_REFERENCE:
        if role.value in names:
            sources[role] = Role.REFERENCE
    if "drafted_from" in names:
        sources[Role.DRAFTED_FROM] = Role.ACCEPT_DRAFT
    points: set[Role] = set()
    if "accept_draft" in names and _drafts_for_sure(setup):
        points.add(Role.ACCEPT_DRAFT)
    elif "accept_draft" in names:
        sources[Role.ACCEPT_DRAFT] = Role.DRAFTED_FROM
    if "residual_draft" in names:
        sources[Role.RESIDUAL_DRAFT] = sources.get(Role.ACCEPT_DRAFT, Role.ACCEPT_DRAFT)
    changed = replace(setup, laws=setup.laws.with_sources(sources, frozenset(points)))
    if "drafted_from" in names and setup.tree.siblings in ("top", "given"):
        changed = replace(changed, tree=replace(setup.tree, siblings="iid", tokens=None))
    numeric = [name for name in NUMERIC if name in names]
    if numeric:
        changed = replace(changed, numerics=numerics_repaired(setup, numeric))
    if "keep" in names:
        changed = replace(changed, proposal=None, length=None)
    if "rule" in names:
        changed = _rule_repaired(changed)
    return changed


def _drafts_for_sure(setup: JointSetup) -> bool:
    """Whether a tree has siblings that are no draws: then what was drafted from is the point mass
    at each of them. (On a chain `drafted_from` itself is that point mass.)"""
    tree = setup.tree
    return not tree.is_chain and tree.siblings in ("top", "given")


def _rule_repaired(setup: JointSetup) -> JointSetup:
    """The rule without the options that are mistakes; token verification for a faulty one."""
    if setup.joint is not None and setup.joint.kind == "lossless":
        rest = dict(setup.use.arguments).get("value")
        name = setup.joint.name if rest is None else f"{setup.joint.name}:{rest}"
        return replace(setup, use=read_joint_rule(name)[1])
    rule, use = read_rule("token")
    return replace(setup, rule=rule, use=use, joint=None)


def numerics_repaired(setup: JointSetup, names: Collection[str]) -> Numerics:
    """The numerics after some numeric repairs, as for one position."""
    position = Setup({}, frozenset(), setup.rule, setup.use, setup.numerics)
    return repaired_position(position, names).numerics


def minimal_repairs(setup: JointSetup, aim: JointSetup | None, horizon: int) -> JointRepairs:
    """Every inclusion-minimal set of repairs whose joint law is proven to be the goal: the law of
    the setup ``aim``, or the reference where there is none."""
    names = candidates(setup)
    goal = None if aim is None else law_of(aim, horizon)
    found: list[Repair] = []
    tried = 0
    for chosen in _sets(names):
        if any(set(known) <= set(chosen) for known in found):
            continue
        if tried >= MOST_TRIED or (tried and tried * setup.size() > setup.limit):
            return JointRepairs(tuple(found), tried, cut_off=True)
        tried += 1
        one = repaired(setup, chosen)
        if aim is None or goal is None:
            reached = is_exact(one, horizon)
        else:
            law = law_of(one, horizon)
            reached = law is not None and same_output(law, goal, setup.laws) and _alike(one, aim)
        if reached:
            found.append(chosen)
    return JointRepairs(tuple(found), tried)


def law_of(setup: JointSetup, horizon: int) -> JointLaw | None:
    """The joint law of a setup; None where it cannot be enumerated."""
    try:
        return joint_law(setup.gathered(_reading(setup)), setup.laws, horizon)
    except SpecdistError:
        return None


def _reading(setup: JointSetup) -> str | None:
    """How target/0 is read where the options leave it open; what they say stands."""
    return "accept" if setup.numerics.zero_draft == "error" else None


def same_output(first: JointLaw, second: JointLaw, laws: PrefixLaws) -> bool:
    """Whether two laws of outputs are one, compared output by output where they can be listed."""
    if first.unnamed or second.unnamed:
        return False
    sides = (expanded(first, laws) or first.blocks, expanded(second, laws) or second.blocks)
    mine, other = ({block.prefix: block.output for block in blocks} for blocks in sides)
    return {z: m for z, m in mine.items() if m} == {z: m for z, m in other.items() if m}


def is_exact(setup: JointSetup, horizon: int) -> bool:
    """Whether the joint law of a setup is proven to be the reference."""
    try:
        gathered = setup.gathered(_reading(setup))
        law = joint_law(gathered, setup.laws, horizon)
    except SpecdistError:
        return False
    return not (law.total_variation or law.unnamed) and proven(setup, gathered)


def _alike(one: JointSetup, aim: JointSetup) -> bool:
    """Whether equal represented laws of two setups are equal real-valued ones: nothing was rounded,
    or every part of them is the same."""
    met = one.laws.met
    parts = ((s.tree, s.use, s.numerics, s.proposal, s.length) for s in (one, aim))
    first, second = parts
    return not (met.bound or met.open) or (first == second and one.laws.filled_as(aim.laws))


def _sets(names: list[str]) -> Iterator[Repair]:
    for count in range(1, len(names) + 1):
        for chosen in combinations(names, count):
            if not any(pair <= set(chosen) for pair in EXCLUSIVE):
                yield chosen


def _same(setup: JointSetup, first: Role, second: Role) -> bool:
    """Whether two roles have one law at every prefix that drafts reach (or by construction)."""
    laws = setup.laws
    if first in laws.one_hot or second in laws.one_hot:
        return first in laws.one_hot and second in laws.one_hot
    if laws.same(first, second):
        return True
    for count, prefix in enumerate(_reachable(laws, setup.tree)):
        if count >= _COMPARED_PREFIXES:
            return False
        if len(prefix) == setup.tree.depth and Role.BONUS_FROM not in (first, second):
            continue
        if not same_law(laws.exact(first, prefix), laws.exact(second, prefix)):
            return False
    return True


def _reachable(laws: ModelLaws, tree: DraftTree) -> Iterator[Prefix]:
    """Every prefix that a chain of drafts can reach, breadth first, the start included."""
    level: list[Prefix] = [()]
    for _ in range(tree.depth + 1):
        yield from level
        level = [
            (*prefix, token)
            for prefix in level
            if len(prefix) < tree.depth
            for token, mass in enumerate(laws.law(Role.DRAFTED_FROM, prefix))
            if mass
        ]
