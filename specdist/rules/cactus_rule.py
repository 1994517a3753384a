"""Cactus: token verification towards a target that is raised at the drafted token.

Law. For drafted n, with P = `accept_target` (raised whole, `exact.raised`),

    h_n(n) = min(1, P(n) + sqrt(2 DELTA P(n) (1 - P(n)))),
    h_n(y) = P(y) (1 - h_n(n)) / (1 - P(n))    for the others,
    a(n) = min(1, h_n(n) / Q(n)),    r(y | n) = [h_n - U]_+(y) / sum [h_n - U]_+.

The target depends on the drafted token, so the output is no single h. Fractions exactly where the
roots are rational, else within a relative 2**-195; float64 rows within a proven bound. DELTA = 0 is
token verification. `residual_target` plays no part.

Raises SettingsError for unnormalised rows. Source: Cactus, 2604.04987.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from specdist.errors import SettingsError
from specdist.exact.raised import Raised, raised, recovered_by_raised
from specdist.exact.vector import ExactVector
from specdist.model.recipe import RecipeStep
from specdist.model.role import Role
from specdist.model.value_texts import Interval, number_within
from specdist.rules.one_hot_residual import recovered_without_drafted
from specdist.rules.outcomes import Outcomes, RoleLaws
from specdist.rules.residuals import emptied, nothing_refused
from specdist.rules.rule import Rule
from specdist.rules.token_rule import token_verification

_ZERO, _ONE = Fraction(0), Fraction(1)


def cactus_outcomes(laws: RoleLaws, use: RecipeStep) -> Outcomes:
    """Accepted and recovered mass of every token under Cactus (module docstring)."""
    target = laws[Role.ACCEPT_TARGET]
    if laws.numerics.unnormalised:
        raise SettingsError(
            "rule cactus takes roots of P (1 - P), and the rows keep their own sum",
            expected="rows of sum 1, without --unnormalised",
        )
    if not use.number():
        return token_verification(_with_target(laws, target))
    found = raised(target, use.number())
    accepted = laws.reaching(_accepted(laws, found))
    refused = laws.refused(accepted)
    rejected = refused.total()
    if not rejected:
        return nothing_refused(accepted, refused)
    floor = laws.numerics.residual_floor
    one_hot = Role.RESIDUAL_DRAFT in laws.one_hot
    if one_hot and laws.numerics.ideal:  # the scale of the others cancels
        return recovered_without_drafted(laws, accepted, None, weights=target)
    subtracted = None if one_hot else laws[Role.RESIDUAL_DRAFT]
    spread = recovered_by_raised(refused, found, subtracted, floor)
    return emptied(laws, Outcomes(accepted, spread.recovered, rejected), spread.lost, _ZERO)


def _with_target(laws: RoleLaws, target: ExactVector) -> RoleLaws:
    """Token verification's residual starts from the tested target."""
    vectors = {**laws.vectors, Role.RESIDUAL_TARGET: target}
    same = laws.same

    def matches(first: Role, second: Role) -> bool:
        names = (Role.ACCEPT_TARGET if r is Role.RESIDUAL_TARGET else r for r in (first, second))
        return same(*names)

    return replace(laws, vectors=vectors, same=matches)


def _accepted(laws: RoleLaws, found: Raised) -> ExactVector:
    drafted = laws[Role.DRAFTED_FROM]
    if laws.numerics.ideal and laws.drafts_target:  # h(n) >= P(n)
        return drafted
    one_hot = Role.ACCEPT_DRAFT in laws.one_hot
    tested = drafted.constant(_ONE) if one_hot else laws[Role.ACCEPT_DRAFT]
    accepted = drafted.accepted_from(found.vector, tested, laws.numerics.accept_test())
    if found.heavy is None or not found.heavy_error:
        return accepted
    # Its height is at least 1/2, so twice the error bounds the relative one.
    own = drafted.value(found.heavy) * min(2 * found.heavy_error, _ONE)
    return accepted.widened(accepted.error + own)


CACTUS = Rule(
    "cactus",
    "Cactus (the target raised at the draft token)",
    "lossy",
    cactus_outcomes,
    metavar="DELTA",
    value=number_within(Interval(low=Fraction(0))),
    neutral=lambda use: use.number() == 0,
)
