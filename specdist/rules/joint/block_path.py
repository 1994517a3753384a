"""Weights, thresholds and residuals of block verification along one path (law: `block_rule`)."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from specdist.model.conditional import Prefix
from specdist.model.recipe import RecipeStep
from specdist.model.role import Role
from specdist.rules.joint.outcomes import Law, PrefixLaws
from specdist.rules.joint.recovered import positive_part, without
from specdist.rules.joint.token_chain_rule import acceptance

_ZERO, _ONE = Fraction(0), Fraction(1)


@dataclass(frozen=True, slots=True)
class BlockPosition:
    """Block verification at a prefix z_i: weight r_i, threshold h_i, and the masses that a token
    recovered there is drawn from (none after the whole draft)."""

    weight: Fraction
    threshold: Fraction
    residual: Law


def block_positions(tokens: Prefix, laws: PrefixLaws, use: RecipeStep) -> tuple[BlockPosition, ...]:
    """r_i, h_i and the residual for i = 0 .. g (h_0 is 1: nothing is tested there)."""
    found = []
    weight = _ONE
    for index in range(len(tokens) + 1):
        prefix = tokens[:index]
        if index:
            weight = acceptance(tokens[index - 1], prefix[:-1], laws, use, weight)
        following = tokens[index] if index < len(tokens) else None
        found.append(block_position(weight, prefix, following, laws, use))
    return tuple(found)


def block_position(
    weight: Fraction, prefix: Prefix, following: int | None, laws: PrefixLaws, use: RecipeStep
) -> BlockPosition:
    """The position at ``prefix`` with its weight; ``following`` is the token drafted after it,
    None behind the last one."""
    if following is None:
        return BlockPosition(weight, weight, ())
    left = _surplus(weight, prefix, following, laws)
    if not prefix:
        threshold = _ONE
    elif use.word("thresholds") == "ratio":
        threshold = weight
    else:
        threshold = block_threshold(weight, sum(left, _ZERO))
    if use.word("residual") == "token" and weight != 1:
        left = _surplus(_ONE, prefix, following, laws)
    return BlockPosition(weight, threshold, left)


def _surplus(weight: Fraction, prefix: Prefix, following: int, laws: PrefixLaws) -> Law:
    """``[weight S(y) - U(y)]_+`` after ``prefix``; ``following`` is the token drafted there."""
    target = laws.law(Role.RESIDUAL_TARGET, prefix)
    if Role.RESIDUAL_DRAFT not in laws.one_hot:
        return positive_part(target, laws.law(Role.RESIDUAL_DRAFT, prefix), weight)
    beside = without(target, following)
    return beside if weight == 1 else tuple(weight * mass for mass in beside)


def block_threshold(weight: Fraction, left: Fraction) -> Fraction:
    """h = Z / (Z + 1 - r), and 1 where that is 0/0."""
    below = left + 1 - weight
    return left / below if below else _ONE
