"""Why a position differs whose rows are known in part: repairs that are proven by the roles alone.

With some roles repaired (see `verify.repairs`) the rule is lossless for any rows, listed or not.
Such a set is a proven cause where none of its parts restores equality, which bounds must show.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from itertools import combinations

from specdist.model.role import Role
from specdist.verify.partial.bounds import BoundedRule
from specdist.verify.partial.laws import PartialLaws
from specdist.verify.repairs import EXCLUSIVE
from specdist.verify.variants import Repair

_TARGETS = (Role.ACCEPT_TARGET, Role.RESIDUAL_TARGET)
_ORDER = (
    Role.ACCEPT_DRAFT,
    Role.RESIDUAL_DRAFT,
    Role.DRAFTED_FROM,
    *_TARGETS,
)

Ruled = Callable[[PartialLaws], BoundedRule]
"""The rule of a position on other laws."""


@dataclass(frozen=True, slots=True)
class PartialCause:
    """``ident`` of the mismatch; ``repairs`` are proven to be smallest, ``enough`` to be enough."""

    ident: str
    repairs: tuple[Repair, ...]
    enough: tuple[Repair, ...]


def cause_of(rule: BoundedRule, ruled: Ruled) -> PartialCause:
    """The cause of a position that is proven to differ."""
    laws = rule.laws
    enough = tuple(_enough(laws, ruled))
    repairs = tuple(repair for repair in enough if _is_minimal(repair, laws, ruled))
    if not enough:
        return PartialCause("output-mismatch", (), ())
    least: Repair = min(enough, key=_rank)
    smallest = set(least)
    targets = {role.value for role in _TARGETS}
    if targets <= smallest and laws.same(*_TARGETS):
        ident = "lossless-for-another-target"
    elif targets & smallest:
        ident = "target-mismatch"
    elif {"accept_draft", "drafted_from"} & smallest:
        ident = "drafted-mismatch"
    else:
        ident = "residual-mismatch"
    return PartialCause(ident, repairs, enough)


def _rank(repair: Repair) -> tuple[int, bool]:
    return len(repair), repair != ("residual_draft",)


def _enough(laws: PartialLaws, ruled: Ruled) -> list[Repair]:
    """The inclusion-minimal sets of repairs after which the roles prove equality; those that leave
    the drafted law alone first."""
    names = [role.value for role in _ORDER if role in laws or role in laws.one_hot]
    if Role.ACCEPT_DRAFT in laws.one_hot:
        names.remove(Role.DRAFTED_FROM.value)
    found: list[Repair] = []
    for size in range(1, len(names) + 1):
        for chosen in combinations(names, size):
            if any(pair <= set(chosen) for pair in EXCLUSIVE):
                continue
            if any(set(smaller) <= set(chosen) for smaller in found):
                continue
            if ruled(repaired(laws, chosen)).sufficient:
                found.append(chosen)
    return sorted(found, key=lambda repair: ("drafted_from" in repair, len(repair)))


def _is_minimal(repair: Repair, laws: PartialLaws, ruled: Ruled) -> bool:
    parts = [part for size in range(1, len(repair)) for part in combinations(repair, size)]
    return all(ruled(repaired(laws, part)).bounds().variation.least > 0 for part in parts)


def repaired(laws: PartialLaws, names: Collection[str]) -> PartialLaws:
    """The laws with some roles repaired, as `verify.repairs.repaired` does it."""
    made = laws
    for role in _TARGETS:
        if role.value in names:
            made = made.repaired(role, Role.REFERENCE)
    if "drafted_from" in names:
        made = made.repaired(Role.DRAFTED_FROM, Role.ACCEPT_DRAFT)
    if "accept_draft" in names:
        made = made.repaired(Role.ACCEPT_DRAFT, Role.DRAFTED_FROM)
    if "residual_draft" in names:
        made = made.repaired(Role.RESIDUAL_DRAFT, Role.ACCEPT_DRAFT)
    return made
