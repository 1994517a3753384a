"""Block verification."""

from __future__ import annotations

from collections.abc import Iterator

from specdist.model.recipe import RecipeStep
from specdist.rules.joint.joint_rule import JointRule
from specdist.rules.joint.outcomes import Drafted, Outcome, PrefixLaws
from specdist.rules.joint.recovered import EMPTY
from specdist.rules.joint.token_chain_rule import require_chain


def block_outcomes(drafted: Drafted, laws: PrefixLaws, use: RecipeStep) -> Iterator[Outcome]:
    """Not written yet."""
    raise NotImplementedError


BLOCK = JointRule(
    "block", "block verification", "lossless", block_outcomes, check=require_chain, options=(EMPTY,)
)
