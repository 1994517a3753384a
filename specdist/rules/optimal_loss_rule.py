"""The least total variation for a budget of rejections.

Law. With S = `residual_target`, U = `residual_draft` and a budget ``R <= TV(S, U)``,

    b(x) = 1 - (R / TV(S, U)) [U(x) - S(x)]_+ / U(x),    r = norm [S - b U]_+ = norm [S - U]_+

Tested as drafted, R is rejected and the total variation is ``TV(S, U) - R``, the least that any
rule with that rejected mass can reach. With ``c = R / TV``, ``b = 1 - c + c min(1, S / U)``:
between accepting everything (c = 0) and token verification (c = 1).

Raises SettingsError where R exceeds TV(S, U), and for a one-hot draft row. Source: Yin et al.
2411.00841, the front of rejections against loss.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from specdist.errors import SettingsError
from specdist.exact.vector import ExactVector
from specdist.model.recipe import RecipeStep
from specdist.model.role import Role
from specdist.model.value_texts import Interval, number_within
from specdist.rules.outcomes import Outcomes, RoleLaws
from specdist.rules.recovery import recover
from specdist.rules.rule import Rule

_ZERO, _ONE = Fraction(0), Fraction(1)


def optimal_loss_outcomes(laws: RoleLaws, use: RecipeStep) -> Outcomes:
    """Accepted and recovered mass of every token at the front (module docstring)."""
    share, error = _share(laws, use.number())
    return recover(laws, laws.reaching(_accepted(laws, share, error)), "residual")


def _share(laws: RoleLaws, budget: Fraction) -> tuple[Fraction, Fraction]:
    """``c = R / TV(S, U)`` and how far rounding leaves it open."""
    if Role.RESIDUAL_DRAFT in laws.one_hot:
        raise SettingsError(
            "rule optimal-loss shaves a whole draft row, and residual_draft is one-hot",
            expected="a draft row",
        )
    over = (laws[Role.RESIDUAL_DRAFT] - laws[Role.RESIDUAL_TARGET]).positive_part()
    variation, open_by = over.total(), over.error
    if laws.same(Role.RESIDUAL_DRAFT, Role.RESIDUAL_TARGET):
        variation = open_by = _ZERO
    if budget > variation + open_by:
        raise SettingsError(
            f"rule optimal-loss: {float(budget):.6g} cannot be rejected, the rows are "
            f"{float(variation):.6g} apart",
            expected="a budget of at most TV(residual_target, residual_draft)",
            advice="at that budget the rule is token verification already",
        )
    if not budget:
        return _ZERO, _ZERO
    share = min(budget / variation, _ONE) if variation else _ONE
    margin = variation - open_by
    return share, min(share * open_by / margin, _ONE) if margin > 0 else _ONE


def _accepted(laws: RoleLaws, share: Fraction, error: Fraction) -> ExactVector:
    """``D b``: on a grid of uniforms the probability b is rounded to it, else it is linear in the
    acceptance of token verification."""
    drafted, target = laws[Role.DRAFTED_FROM], laws[Role.RESIDUAL_TARGET]
    tested = laws[Role.RESIDUAL_DRAFT]
    test = replace(laws.numerics.accept_test(), epsilon=_ZERO)
    real = replace(test, grid=None, zero_draft="accept-all")
    if test.grid is None:
        by_ratio = drafted.accepted_from(target, tested, real).scaled(share)
        kept = drafted.scaled(1 - share) + by_ratio
        return kept.doubted(error)
    ones = drafted.constant(_ONE)
    by_ratio = ones.accepted_from(target, tested, real)
    chances = ones.scaled(1 - share) + by_ratio.scaled(share)
    kept = drafted.accepted_from(chances.widened(by_ratio.error), ones, test)
    # An error of c may move every chance across a point of the grid.
    doubt = error + test.grid.step if error else _ZERO
    return kept.doubted(doubt)


OPTIMAL_LOSS = Rule(
    "optimal-loss",
    "least total variation for a rejection budget",
    "lossy",
    optimal_loss_outcomes,
    metavar="R",
    value=number_within(Interval(low=_ZERO, high=_ONE)),
    divides=False,
)
