"""Top-beta acceptance: the target's best few, as long as their odds to the best are good.

Law. T = the BETA tokens of largest P, ties by rising id, that have ``P(x) >= F max P`` with
``F = exp(-tau)``, accepted as a set (`set_rule`); after a rejection the argmax of S unless said
otherwise.

Source: Xia et al. 2203.16487 (SpecDec), whose second condition is
``log max P - log P(x) <= tau``.
"""

from __future__ import annotations

from fractions import Fraction

from specdist.model.recipe import RecipeStep
from specdist.model.role import Role
from specdist.model.step_forms import Option
from specdist.model.value_texts import Interval, count_from, number_within
from specdist.rules.outcomes import Outcomes, RoleLaws
from specdist.rules.recovery import recovery_option
from specdist.rules.rule import Rule
from specdist.rules.set_rule import among_the_top, largest_value, set_outcomes

_FACTOR = number_within(Interval(low=Fraction(0), high=Fraction(1), open_low=True))


def top_beta_outcomes(laws: RoleLaws, use: RecipeStep) -> Outcomes:
    """Accepted and recovered mass of every token under top-beta (module docstring)."""
    target = laws[Role.ACCEPT_TARGET]
    largest = largest_value(target)
    edge = use.number("factor") * largest
    return set_outcomes(laws, use, among_the_top(target, use.count(), edge, largest))


TOP_BETA = Rule(
    "top-beta",
    "top-beta acceptance within a log-gap",
    "lossy",
    top_beta_outcomes,
    metavar="BETA",
    value=count_from(1),
    options=(
        Option("factor", _FACTOR, Fraction(1), "exp(-tau), the least share of the largest"),
        recovery_option("argmax", "target", "set", default="argmax"),
    ),
    required=("factor",),
    divides=False,
)
