"""Block verification at one position of a captured path, behind drafted tokens of weight r.

Law. At a prefix z of weight r, with D, P, Q, S, U the roles at z as in `block_rule`, the masses
that follow z, given that z is drafted, are

    kept(y) = D(y) min(1, r P(y) / Q(y)),   K = sum kept
    recovered(y) = h (1 - K) R(y) / Z,      R = [r S - U]_+, Z = sum R, h = Z / (Z + 1 - r)

and where U is one-hot, with ``k(x) = (D(x) - kept(x)) / (1 - r S(x))``,

    recovered(y) = r S(y) sum_(x != y) k(x).

Both are divided by their sum r', so that they are the law of the next token given that z is kept;
for r = 1 that is token verification. If the roles are right, r' = r and kept + recovered = r P.

Why the rows of one position are enough: the coin of z counts only where no coin behind it shows
heads, which has probability 1 - K if ``Pr(tau >= i+1 | z_(i+1)) = r_(i+1)`` for every token behind
z. That identity holds where r' = r at the positions behind; it follows from the roles there being
right, and rows of one path show it for the drafted tokens only.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from specdist.errors import SettingsError
from specdist.exact.vector import ExactVector
from specdist.model.recipe import RecipeStep
from specdist.model.role import Role
from specdist.rules.joint.block_path import block_threshold
from specdist.rules.outcomes import Outcomes, RoleLaws
from specdist.rules.rule import Rule
from specdist.rules.token_rule import accepted_by_ratio, token_verification

_ZERO, _ONE, _ANY = Fraction(0), Fraction(1), Fraction(2)
_COARSE = Fraction(1, 1_000)


@dataclass(frozen=True, slots=True)
class Weight:
    """r and a bound on its relative error, where rows were rounded."""

    value: Fraction = _ONE
    doubt: Fraction = _ZERO


@dataclass(frozen=True, slots=True)
class Coin:
    """The threshold h and how far off it may be."""

    threshold: Fraction
    error: Fraction = _ZERO


@dataclass(frozen=True, slots=True)
class BlockMasses:
    """Kept and recovered mass per token, given that the prefix is drafted; ``error`` bounds the
    error of their sum r'."""

    kept: ExactVector
    recovered: ExactVector
    error: Fraction

    @property
    def total(self) -> Fraction:
        """r', the probability that the prefix is kept."""
        return self.kept.total() + self.recovered.total()


def block_position_outcomes(laws: RoleLaws, use: RecipeStep) -> Outcomes:
    """The law of the next token behind a kept prefix (module docstring).

    Raises SettingsError for numeric options, which the law above does not have.
    """
    weight = Weight(use.number("weight"), use.number("doubt"))
    if not laws.numerics.ideal:
        raise SettingsError(
            "rule block on the rows of one path is verified in real arithmetic only",
            expected="no options of the numeric model but --zero-draft and --empty-residual",
        )
    if weight.value == 1 or _independent_of_weight(laws):
        return token_verification(laws)
    masses = block_masses(laws, weight)
    total = masses.total
    if not total:
        return token_verification(laws)
    kept, recovered = masses.kept.scaled(1 / total), masses.recovered.scaled(1 / total)
    if masses.error:
        kept = kept.widened(_shared(masses.kept.error, masses.error, total))
        recovered = recovered.widened(_shared(masses.recovered.error, masses.error, total))
    return Outcomes(kept, recovered, recovered.total())


def _shared(error: Fraction, of_total: Fraction, total: Fraction) -> Fraction:
    """The error of masses divided by a total that has one too."""
    return min(2 * (error + of_total) / total, _ANY) if 2 * of_total < total else _ANY


def _independent_of_weight(laws: RoleLaws) -> bool:
    """With one-hot drafts and one target the masses are r times those of token verification."""
    return laws.tests_one_hot and laws.same(Role.ACCEPT_TARGET, Role.RESIDUAL_TARGET)


def block_masses(laws: RoleLaws, weight: Weight) -> BlockMasses:
    """The masses of the module docstring, r less than 1."""
    kept = _kept(laws, weight)
    if Role.RESIDUAL_DRAFT in laws.one_hot:
        recovered = _recovered_without_drafted(laws, kept, weight)
    else:
        recovered = _recovered(laws, kept, weight)
    return BlockMasses(kept, recovered, kept.error + recovered.error)


def _kept(laws: RoleLaws, weight: Weight) -> ExactVector:
    drafted, target = laws[Role.DRAFTED_FROM], laws[Role.ACCEPT_TARGET]
    if _tested_as_drafted(laws):
        kept = drafted.minimum(target.scaled(weight.value))
    else:
        kept = accepted_by_ratio(laws, 1 / weight.value)
    return kept.widened(kept.error + weight.doubt) if weight.doubt else kept


def _tested_as_drafted(laws: RoleLaws) -> bool:
    if Role.ACCEPT_DRAFT in laws.one_hot or not laws.same(Role.DRAFTED_FROM, Role.ACCEPT_DRAFT):
        return False
    drafted, tested = laws[Role.DRAFTED_FROM], laws[Role.ACCEPT_DRAFT]
    return drafted.same_as(tested) or (drafted - tested).is_zero()


def _recovered(laws: RoleLaws, kept: ExactVector, weight: Weight) -> ExactVector:
    left, coin = surplus_and_coin(laws, weight)
    total, none_behind = left.total(), 1 - kept.total()
    mass = coin.threshold * none_behind
    recovered = left.scaled(mass / total if total else _ZERO)
    if not (left.error or kept.error or weight.doubt):
        return recovered
    of_mass = coin.error * max(none_behind, _ZERO) + kept.error
    of_law = min(2 * left.error / total, _ANY) if total else _ZERO
    return recovered.widened(of_mass + mass * of_law)


def surplus_and_coin(laws: RoleLaws, weight: Weight) -> tuple[ExactVector, Coin]:
    """R and h of a position whose residual draft has a row."""
    scaled = laws[Role.RESIDUAL_TARGET].scaled(weight.value)
    left = (scaled - laws[Role.RESIDUAL_DRAFT]).positive_part()
    off = weight.value * weight.doubt
    if off:
        left = left.widened(left.error + off)
    return left, coin(left.total(), left.error, weight)


def coin(left: Fraction, error: Fraction, weight: Weight) -> Coin:
    """h = Z / (Z + 1 - r) for Z = ``left``, which is off by at most ``error``."""
    threshold = block_threshold(weight.value, left)
    off = error + weight.value * weight.doubt
    if not off:
        return Coin(threshold)
    divisor = left + 1 - weight.value - off
    return Coin(threshold, min(off / divisor, _ONE) if divisor > 0 else _ONE)


def _recovered_without_drafted(laws: RoleLaws, kept: ExactVector, weight: Weight) -> ExactVector:
    target = laws[Role.RESIDUAL_TARGET].scaled(weight.value)
    shares, _ = (laws[Role.DRAFTED_FROM] - kept).over_complement(target)
    everything = shares.total()
    if not everything:
        return shares
    law = laws[Role.RESIDUAL_TARGET]
    unit = shares.scaled(1 / everything)  # so that errors of products are those of laws
    recovered = law.scaled(everything, shares.error) - unit.product(law).scaled(everything)
    recovered = recovered.scaled(weight.value)
    if not weight.doubt:
        return recovered
    tilt, _ = laws[Role.DRAFTED_FROM].over_complement(target)
    off = 4 * weight.doubt * (1 + tilt.total()) if weight.doubt < _COARSE else _ANY
    return recovered.widened(recovered.error + off)


BLOCK_POSITION = Rule(
    "block", "block verification at one position of a path", "lossless", block_position_outcomes
)
"""Not in the list of rules: its step carries the weight of the path before it."""


def block_position_step(weight: Weight) -> RecipeStep:
    """The parameters of `BLOCK_POSITION` behind a prefix of that weight."""
    return RecipeStep("block", (("weight", weight.value), ("doubt", weight.doubt)), "block")
