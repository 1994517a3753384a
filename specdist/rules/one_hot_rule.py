"""Token verification with a one-hot draft, whatever draft row was declared.

Law. Token verification with `accept_draft` and `residual_draft` the point mass at the drafted
token: accept x with probability P(x), else emit from S without x,

    accepted(x) = D(x) P(x),    r(y | x) = S(y) [y != x] / (1 - S(x)).

Lossless for every D when P and S are the reference. Sources: vLLM 0.33.0,
`v1/sample/rejection_sampler.py`, with `draft_probs` None; EAGLE cb7e084, `evaluate_posterior`,
where the tested probability is 1.
"""

from __future__ import annotations

from dataclasses import replace

from specdist.model.recipe import RecipeStep
from specdist.model.role import ONE_HOT_ROLES
from specdist.rules.outcomes import Outcomes, RoleLaws
from specdist.rules.rule import Rule, target_as_reference
from specdist.rules.token_rule import token_verification


def one_hot_outcomes(laws: RoleLaws, use: RecipeStep) -> Outcomes:
    """Accepted and recovered mass of every token with one-hot drafts (module docstring)."""
    return token_verification(as_one_hot(laws))


def as_one_hot(laws: RoleLaws) -> RoleLaws:
    """The same position tested and subtracted as the point mass at the drafted token."""
    return replace(laws, one_hot=frozenset(ONE_HOT_ROLES))


ONE_HOT = Rule(
    "one-hot",
    "token verification with one-hot drafts",
    "lossless",
    one_hot_outcomes,
    sufficient=target_as_reference,
    divides=False,
)
