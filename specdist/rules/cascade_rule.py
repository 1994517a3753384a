"""Cascade acceptance: every token that the target finds likely enough beside its favourite.

Law. ``T = {x : P(x) >= BASE max P}``, 0 < BASE <= 1, accepted as a set (`set_rule`), equality
included. With recovery=target the output is ``D 1_T + (1 - D(T)) S``; with recovery=set it is not
the target truncated to T, although both live on T.

Sources: SpecCascade, token-specific deferral with a min-p set, as named in vLLM; min-p sets as in
2407.01082.
"""

from __future__ import annotations

from fractions import Fraction

from specdist.model.recipe import RecipeStep
from specdist.model.role import Role
from specdist.model.value_texts import Interval, number_within
from specdist.rules.outcomes import Outcomes, RoleLaws
from specdist.rules.recovery import recovery_option
from specdist.rules.rule import Rule
from specdist.rules.set_rule import at_least, largest_value, set_outcomes


def cascade_outcomes(laws: RoleLaws, use: RecipeStep) -> Outcomes:
    """Accepted and recovered mass of every token under a cascade (module docstring)."""
    target = laws[Role.ACCEPT_TARGET]
    largest = largest_value(target)
    return set_outcomes(laws, use, at_least(target, use.number() * largest, largest))


CASCADE = Rule(
    "cascade",
    "cascade (min-p) acceptance",
    "lossy",
    cascade_outcomes,
    metavar="BASE",
    value=number_within(Interval(low=Fraction(0), high=Fraction(1), open_low=True)),
    options=(recovery_option("target", "set", "argmax"),),
    required=("recovery",),
    divides=False,
)
