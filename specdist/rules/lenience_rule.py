"""Lenient token verification: the target counts 1/L times.

Law. ``a(x) = min(1, P(x) / (L Q(x)))`` with 0 < L <= 1, and after a rejection

    residual   [S - U]_+ / sum [S - U]_+         (the reading of the paper; default)
    scaled     [S - L U]_+ / sum [S - L U]_+
    target     S

Acceptance is ``sum min(Q, P / L)``. With the first two recoveries no token is emitted more than
1/L times as often as the target has it, and the total variation is ``sum [min(Q, P/L) - P]_+`` with
the first, the least for this acceptance. Lossless at L = 1, unless recovery=target.

Sources: Leviathan et al. 2211.17192, appendix A.5; lucidrains/speculative-decoding 72171ac,
argument `lenience`.
"""

from __future__ import annotations

from fractions import Fraction

from specdist.model.recipe import RecipeStep
from specdist.model.role import Role
from specdist.model.value_texts import Interval, number_within
from specdist.rules.one_hot_residual import recovered_without_drafted
from specdist.rules.outcomes import Outcomes, RoleLaws
from specdist.rules.recovery import recover, recovered_from, recovery_option, residual
from specdist.rules.residuals import floored
from specdist.rules.rule import Rule
from specdist.rules.token_rule import accepted_by_ratio

_ONE = Fraction(1)


def lenience_outcomes(laws: RoleLaws, use: RecipeStep) -> Outcomes:
    """Accepted and recovered mass of every token under lenience (module docstring)."""
    share, recovery = use.number(), use.word("recovery")
    accepted = laws.reaching(accepted_by_ratio(laws, share))
    if recovery == "scaled" and share != 1:
        if Role.RESIDUAL_DRAFT not in laws.one_hot:
            return recovered_from(laws, accepted, residual(laws, share))
        target = laws[Role.RESIDUAL_TARGET]
        left = (target - target.constant(share)).positive_part()
        left = floored(left, laws.numerics.residual_floor)
        return recovered_without_drafted(laws, accepted, None, at_drafted=left)
    kind = "residual" if recovery == "scaled" else recovery
    return recover(laws, accepted, kind, one_hot_share=_ONE if share == 1 else None)


def _neutral(use: RecipeStep) -> bool:
    return use.number() == 1 and use.word("recovery") != "target"


LENIENCE = Rule(
    "lenience",
    "lenient token verification",
    "lossy",
    lenience_outcomes,
    metavar="L",
    value=number_within(Interval(low=Fraction(0), high=_ONE, open_low=True)),
    options=(recovery_option("residual", "scaled", "target", default="residual"),),
    neutral=_neutral,
)
