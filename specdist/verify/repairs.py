"""Repairs: which smallest changes of a position bring its output law back, by enumeration.

A repair changes one part of the setup to what a correct engine has there:

    accept_target, residual_target, bonus_from   the reference
    drafted_from      what is tested (`accept_draft`)
    accept_draft      what was drafted from (`drafted_from`)
    residual_draft    what is tested, after the repair of that
    recovery          the residual: of the token rule, or in place of a captured recovery law
    rule              token verification, for a faulty or observed rule
    keep              every draft token is tested
    sums              rows enter test and residual with sum one
    inequality        u < a, where u <= a and the grid of u has a point at 0
    uniform           a real-valued uniform
    ratio_epsilon, residual_floor   0
    empty_residual    a draw from the target

The goal is the reference; for a lossy rule it is the law of the same rule with everything repaired
that it leaves open, on the law drafted from. A set of repairs is reported when its output law is
the goal, proven by `compare`, and none of its subsets does it. What stays undecided is no repair.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from fractions import Fraction

from specdist.exact.vectors import rational, same_law
from specdist.model.numerics import EmptyResidual
from specdist.model.role import Role
from specdist.rules.registry import read_rule
from specdist.verify.setup import Setup

TO_REFERENCE = (Role.ACCEPT_TARGET, Role.RESIDUAL_TARGET, Role.BONUS_FROM)
NUMERIC = ("sums", "inequality", "uniform", "ratio_epsilon", "residual_floor", "empty_residual")
EXCLUSIVE = (
    frozenset({"drafted_from", "accept_draft"}),
    frozenset({"recovery", "rule"}),
    frozenset({"inequality", "uniform"}),
)
"""Repairs that are never made together."""

_SOMETHING = ("token", "none")


def candidates(setup: Setup) -> list[str]:
    """The repairs that change something, in the order in which they are tried and told."""
    names: list[str] = []
    one_hot = setup.one_hot
    by_row = Role.ACCEPT_DRAFT not in one_hot
    if not by_row or not _same(setup, Role.ACCEPT_DRAFT, Role.DRAFTED_FROM):
        names += ["accept_draft"]
    if names or not _same(setup, Role.RESIDUAL_DRAFT, Role.ACCEPT_DRAFT):
        names += ["residual_draft"]
    if by_row and "accept_draft" in names:
        names += ["drafted_from"]
    names += [
        role.value
        for role in TO_REFERENCE
        if role in setup.laws and not _same(setup, role, Role.REFERENCE)
    ]
    options = dict(setup.use.arguments)
    if setup.rule.kind in ("faulty", "observed"):
        names += (["recovery"] if _residual(setup) else []) + ["rule"]
    elif setup.rule.name == "token" and options.get("recovery", "residual") != "residual":
        names += ["recovery"]
    if setup.proposal is not None:
        names += ["keep"]
    return names + _numeric_candidates(setup)


def _numeric_candidates(setup: Setup) -> list[str]:
    numerics = setup.numerics
    changed = {
        "sums": any(law.mass != 1 for law in setup.laws.values()),
        "inequality": numerics.inclusive and numerics.grid is not None and not numerics.grid.first,
        "uniform": numerics.grid is not None,
        "ratio_epsilon": bool(numerics.ratio_epsilon),
        "residual_floor": bool(numerics.residual_floor),
        "empty_residual": numerics.empty_residual.how in _SOMETHING,
    }
    return [name for name in NUMERIC if changed[name]]


def repaired(setup: Setup, names: Collection[str]) -> Setup:
    """The setup with some of its parts repaired (see the module)."""
    laws, one_hot = dict(setup.laws), set(setup.one_hot)
    for role in TO_REFERENCE:
        if role.value in names and role in laws:
            laws[role] = setup.laws[Role.REFERENCE]
    if "drafted_from" in names:
        laws[Role.DRAFTED_FROM] = setup.laws[Role.ACCEPT_DRAFT]
    if "accept_draft" in names:
        laws[Role.ACCEPT_DRAFT] = setup.laws[Role.DRAFTED_FROM]
        one_hot.discard(Role.ACCEPT_DRAFT)
    if "residual_draft" in names:
        laws.pop(Role.RESIDUAL_DRAFT, None)
        one_hot.discard(Role.RESIDUAL_DRAFT)
        if Role.ACCEPT_DRAFT in one_hot:
            one_hot.add(Role.RESIDUAL_DRAFT)
        else:
            laws[Role.RESIDUAL_DRAFT] = laws[Role.ACCEPT_DRAFT]
    if "sums" in names:
        whole = {id(law): replace(law, mass=Fraction(1)) for law in laws.values()}
        laws = {role: whole[id(law)] for role, law in laws.items()}
    return _model_repaired(replace(setup, laws=laws, one_hot=frozenset(one_hot)), names)


def _model_repaired(setup: Setup, names: Collection[str]) -> Setup:
    """Numerics, rule and proposal."""
    numerics = setup.numerics
    if "sums" in names:
        numerics = replace(numerics, unnormalised=False)
    if "inequality" in names:
        numerics = replace(numerics, inclusive=False)
    if "uniform" in names:
        numerics = replace(numerics, grid=None, inclusive=False, capped=True)
    if "ratio_epsilon" in names:
        numerics = replace(numerics, ratio_epsilon=Fraction(0))
    if "residual_floor" in names:
        numerics = replace(numerics, residual_floor=Fraction(0))
    if "empty_residual" in names:
        numerics = replace(numerics, empty_residual=EmptyResidual("target"))
    setup = replace(setup, numerics=numerics)
    if "keep" in names:
        setup = replace(setup, proposal=None, keep=None)
    if "recovery" in names and setup.given:
        nothing = (Fraction(0),) * setup.laws[Role.REFERENCE].size
        setup = replace(setup, given={**setup.given, "recovery": _residual(setup) or nothing})
    elif "rule" in names or "recovery" in names:
        rule, use = read_rule("token")
        setup = replace(setup, rule=rule, use=use, given={})
    return setup


def all_of(names: Collection[str]) -> frozenset[str]:
    """The repairs that a set comes to: another rule brings its own recovery."""
    return frozenset(names) | (frozenset({"recovery"}) if "rule" in names else frozenset())


def _residual(setup: Setup) -> tuple[Fraction, ...]:
    """``[S - U]_+`` normalised, in place of a captured recovery law; nothing where there is no
    such row, or it would be empty."""
    if "recovery" not in setup.given or setup.one_hot:
        return ()
    target = rational(setup.laws[Role.RESIDUAL_TARGET]).values
    subtracted = rational(setup.laws[Role.RESIDUAL_DRAFT]).values
    left = [max(p - q, Fraction(0)) for p, q in zip(target, subtracted, strict=True)]
    total = sum(left, Fraction(0))
    return tuple(value / total for value in left) if total else ()


def _same(setup: Setup, first: Role, second: Role) -> bool:
    """Whether two roles are one law of one mass."""
    if first in setup.one_hot or second in setup.one_hot:
        return first in setup.one_hot and second in setup.one_hot
    mine, other = setup.laws[first], setup.laws[second]
    return mine.mass == other.mass and same_law(mine, other)
