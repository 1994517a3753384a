"""Typical acceptance: a threshold that falls with the entropy of the target.

Law. ``T = {x : P(x) > min(EPSILON, DELTA exp(-H(P)))}`` with ``H = -sum P ln P`` in nats, accepted
as a set (`set_rule`); strict, so a token at the threshold is rejected.

The threshold is decided exactly for fractions (integer powers, else enclosures of up to 320
digits); for float64 rows, and where 320 digits do not separate, tokens that close to it add their
mass to the error. Sources: Medusa 2401.10774, section 3.3.2, and e2a5d20, `utils.py`; vLLM's
TypicalAcceptanceSampler (defaults 0.09 and 0.3), which falls back to the argmax.
"""

from __future__ import annotations

from fractions import Fraction

from specdist.exact.entropy import above_entropy
from specdist.model.recipe import RecipeStep
from specdist.model.role import Role
from specdist.model.step_forms import Option
from specdist.model.value_texts import Interval, number_within
from specdist.rules.outcomes import Outcomes, RoleLaws
from specdist.rules.recovery import recovery_option
from specdist.rules.rule import Rule
from specdist.rules.set_rule import set_outcomes

_ZERO = Fraction(0)
_POSITIVE = number_within(Interval(low=_ZERO, open_low=True))


def typical_outcomes(laws: RoleLaws, use: RecipeStep) -> Outcomes:
    """Accepted and recovered mass of every token under typical acceptance (module docstring)."""
    above = above_entropy(laws[Role.ACCEPT_TARGET], use.number("delta"), use.number())
    return set_outcomes(laws, use, lambda vector: vector.where(above))


TYPICAL = Rule(
    "typical",
    "typical acceptance",
    "lossy",
    typical_outcomes,
    metavar="EPSILON",
    value=number_within(Interval(low=_ZERO, high=Fraction(1))),
    options=(
        Option("delta", _POSITIVE, _ZERO, "the factor of exp(-H)"),
        recovery_option("target", "argmax", "set"),
    ),
    required=("delta", "recovery"),
    divides=False,
)
