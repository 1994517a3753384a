"""Drafts and target draw with the same noise, and the target's draw is emitted.

Law. With P = `accept_target` and D = `drafted_from`, both drawn from one source of randomness, the
draft token is accepted iff both draws are the same, and the target's is emitted in any case:
output P whatever D is, accepted(x) the probability that both choose x,

    gumbel         1 / sum_i max(P(i) / P(x), D(i) / D(x))      the same exponential noise
    minhash-dart   min(P, D)(x) / sum max(P, D)                 weighted MinHash, the same dart
    minhash        min(P, D)(x) (1 + |P - D|(x)) / sum max(P, D)        ... the same value
    inverse-cdf    overlap of the cumulative intervals of x, in token order

In acceptance: token verification >= gumbel >= minhash >= minhash-dart = (1 - TV) / (1 + TV).
Fractions exactly; float64 rows within a proven bound, which leaves the output law alone.

Source: Daliri, Musco, Suresh 2408.07978 (drafter-invariant couplings; the bound of minhash-dart).
"""

from __future__ import annotations

from specdist.exact.couplings import SCHEMES, both_choose
from specdist.model.recipe import RecipeStep
from specdist.model.role import Role
from specdist.model.value_texts import one_of
from specdist.rules.outcomes import Outcomes, RoleLaws
from specdist.rules.rule import Rule, tests_reference


def shared_noise_outcomes(laws: RoleLaws, use: RecipeStep) -> Outcomes:
    """Accepted and recovered mass of every token under shared noise (module docstring)."""
    target = laws[Role.ACCEPT_TARGET]
    if laws.numerics.unnormalised:
        target = target.scaled(1 / target.total())
    accepted = both_choose(use.word("value"), target, laws[Role.DRAFTED_FROM])
    return Outcomes(accepted, target - accepted, 1 - accepted.total())


SHARED_NOISE = Rule(
    "shared-noise",
    "drafts and target share their noise",
    "lossless",
    shared_noise_outcomes,
    metavar="SCHEME",
    value=one_of(*SCHEMES),
    sufficient=tests_reference,
    takes_keep=lambda use: False,
    divides=False,
)
