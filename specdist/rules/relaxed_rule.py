"""Relaxed acceptance: the target's best few, as long as they are close to the best.

Law. T = the N tokens of largest P, ties by rising id, that have ``P(x) >= max P - DELTA``, accepted
as a set (`set_rule`); after a rejection the argmax of S unless said otherwise. With DELTA at least
max P and N at least the vocabulary everything is accepted.

Source: TensorRT-LLM, relaxed acceptance of the thinking phase (documented with N = 10,
DELTA = 0.6).
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

_SHARE = number_within(Interval(low=Fraction(0), high=Fraction(1)))


def relaxed_outcomes(laws: RoleLaws, use: RecipeStep) -> Outcomes:
    """Accepted and recovered mass of every token under relaxed acceptance (module docstring)."""
    target = laws[Role.ACCEPT_TARGET]
    largest = largest_value(target)
    edge = largest - use.number("delta")
    return set_outcomes(laws, use, among_the_top(target, use.count(), edge, largest))


RELAXED = Rule(
    "relaxed",
    "relaxed acceptance (top-N within a margin)",
    "lossy",
    relaxed_outcomes,
    metavar="N",
    value=count_from(1),
    options=(
        Option("delta", _SHARE, Fraction(0), "how far below the largest probability"),
        recovery_option("argmax", "target", "set", default="argmax"),
    ),
    required=("delta",),
    divides=False,
)
