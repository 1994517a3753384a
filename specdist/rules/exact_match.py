"""Exact match, also called sample and compare.

Law. Draft x from D (`drafted_from`), draw y from P (`accept_target`) independently, accept the
drafted token iff x = y, and emit y in any case. Accepted mass is ``D(x) P(x)``, recovered mass
``P(y) (1 - D(y))``; the output law is P whatever D is. The draft roles of test and residual and
`residual_target` play no part, and no uniform is compared with a ratio.

A dropped draft token leaves the law alone: the emitted token is y all the same.

Sources: llama.cpp 0c1e57098, `common/sampling.cpp`, `common_sampler_sample_and_accept_n`;
transformers 5.24.0, `generation/utils.py`, where candidates come without logits.
"""

from __future__ import annotations

from specdist.model.recipe import RecipeStep
from specdist.model.role import Role
from specdist.rules.outcomes import Outcomes, RoleLaws
from specdist.rules.rule import Rule, tests_reference


def exact_match_outcomes(laws: RoleLaws, use: RecipeStep) -> Outcomes:
    """Accepted and recovered mass of every token under exact match (module docstring)."""
    target = laws[Role.ACCEPT_TARGET]
    if laws.numerics.unnormalised:
        target = target.scaled(1 / target.total())
    accepted = laws.reaching(laws[Role.DRAFTED_FROM].product(target))
    refused = laws.refused(accepted)
    reached = (refused + accepted).total()
    return Outcomes(accepted, target.scaled(reached) - accepted, refused.total())


EXACT_MATCH = Rule(
    "exact-match",
    "exact match (sample and compare)",
    "lossless",
    exact_match_outcomes,
    sufficient=tests_reference,
    divides=False,
)
