"""Token verification on closed forms: acceptance, residual, output law and verdict, exactly.

Source: Leviathan et al. 2211.17192, algorithm 1 and appendix A.1. With the roles apart, for a
token x drawn from drafted(x):

    a(x) = min(1, accept_target(x) / accept_draft(x))
    r(y | x) = max(0, residual_target(y) - residual_draft(y)) / their sum over y
    out(y) = drafted(y) a(y) + sum over x of drafted(x) (1 - a(x)) r(y | x)

A draft role that is one-hot is the point mass at x itself: a(x) = accept_target(x), and r(y | x)
is residual_target without x, normalised.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from specdist.errors import SettingsError
from specdist.exact.symbolic_law import SymbolicLaw
from specdist.exact.symbolic_ratio import (
    ONE,
    ZERO,
    ExponentialRatio,
    minimum,
    positive_part,
    total,
)

ONE_HOT: Literal["one-hot"] = "one-hot"
DraftLaw = SymbolicLaw | Literal["one-hot"]


@dataclass(frozen=True, slots=True)
class RoleLaws:
    """One law [V] per role of a drafted position; draft tests may be one-hot."""

    reference: SymbolicLaw
    accept_target: SymbolicLaw
    residual_target: SymbolicLaw
    drafted_from: SymbolicLaw
    accept_draft: DraftLaw
    residual_draft: DraftLaw


@dataclass(frozen=True, slots=True)
class TokenMasses:
    """Masses [V] and sums of one position.

    ``residual`` is recovered / its sum, None when nothing is recovered. ``missing`` is the mass
    of rejections whose residual is empty (nothing can be emitted); it is 0 in a sound sampler,
    and where it is not, the output sums to 1 - missing.
    """

    accepted: SymbolicLaw
    recovered: SymbolicLaw
    output: SymbolicLaw
    residual: SymbolicLaw | None
    acceptance: ExponentialRatio
    rejected: ExponentialRatio
    missing: ExponentialRatio
    total_variation: ExponentialRatio
    equal: bool


def acceptance_of(
    target: Sequence[ExponentialRatio], draft: Sequence[ExponentialRatio]
) -> ExponentialRatio:
    """``sum over x of min(target(x), draft(x))``: what the token rule accepts, roles agreeing."""
    return total(minimum(a, b) for a, b in zip(target, draft, strict=True))


def total_variation(
    left: Sequence[ExponentialRatio], right: Sequence[ExponentialRatio]
) -> ExponentialRatio:
    """``sum over x of max(0, left(x) - right(x))``, which is the total variation of two laws."""
    return total(positive_part(a, b) for a, b in zip(left, right, strict=True))


def laws_equal(left: Sequence[ExponentialRatio], right: Sequence[ExponentialRatio]) -> bool:
    """Exact equality of two laws, token by token."""
    return all(a.equals(b) for a, b in zip(left, right, strict=True))


def token_masses(laws: RoleLaws) -> TokenMasses:
    """The whole position. Raises SettingsError when a token is drafted that accept_draft forbids
    and accept_target forbids too (0/0); over a forbidden draft alone the ratio is above 1."""
    drafted, chance = laws.drafted_from, _acceptance_chances(laws)
    accepted = tuple(d * a for d, a in zip(drafted, chance, strict=True))
    recovered, missing = (
        _one_hot_residual(laws, chance)
        if isinstance(laws.residual_draft, str)
        else _common_residual(laws, laws.residual_draft, accepted)
    )
    output = tuple(a + r for a, r in zip(accepted, recovered, strict=True))
    acceptance = total(accepted)
    rejected = ONE - acceptance
    emitted = rejected - missing
    return TokenMasses(
        accepted=accepted,
        recovered=recovered,
        output=output,
        residual=None if emitted.is_zero() else tuple(r / emitted for r in recovered),
        acceptance=acceptance,
        rejected=rejected,
        missing=missing,
        total_variation=total_variation(laws.reference, output),
        equal=laws_equal(laws.reference, output),
    )


def _acceptance_chances(laws: RoleLaws) -> list[ExponentialRatio]:
    """a(x); 0 where x is never drafted, so that nothing divides by zero."""
    chances = []
    for x, (drafted, target) in enumerate(zip(laws.drafted_from, laws.accept_target, strict=True)):
        tested = ONE if isinstance(laws.accept_draft, str) else laws.accept_draft[x]
        if drafted.is_zero():
            chances.append(ZERO)
        elif tested.is_zero() and target.is_zero():
            raise SettingsError(
                f"token {x} can be drafted, but both rows of its test give it probability 0",
                expected="a test that is defined for every drafted token",
            )
        elif target.compare(tested) >= 0:
            chances.append(ONE)
        else:
            chances.append(target / tested)
    return chances


def _common_residual(
    laws: RoleLaws, subtracted: SymbolicLaw, accepted: SymbolicLaw
) -> tuple[SymbolicLaw, ExponentialRatio]:
    """Recovered masses when the residual does not depend on the drafted token."""
    nothing = tuple(ZERO for _ in accepted)
    rejected = ONE - total(accepted)
    if rejected.is_zero():
        return nothing, ZERO
    parts = [positive_part(a, b) for a, b in zip(laws.residual_target, subtracted, strict=True)]
    mass = total(parts)
    if mass.is_zero():
        return nothing, rejected
    scale = rejected / mass
    return tuple(part * scale for part in parts), ZERO


def _one_hot_residual(
    laws: RoleLaws, chance: list[ExponentialRatio]
) -> tuple[SymbolicLaw, ExponentialRatio]:
    """Recovered masses when r(. | x) is residual_target without x.

    With s(x) = drafted(x) (1 - a(x)) / (1 - residual_target(x)), token y recovers
    ``residual_target(y) (sum of s - s(y))``.
    """
    shares, missing = [], []
    for drafted, a, target in zip(laws.drafted_from, chance, laws.residual_target, strict=True):
        rest, refused = ONE - target, ONE - a
        if drafted.is_zero() or refused.is_zero():
            shares.append(ZERO)
        elif rest.is_zero():
            shares.append(ZERO)
            missing.append(drafted * refused)
        else:
            shares.append(drafted * (refused / rest))
    whole = total(shares)
    recovered = tuple(
        target * (whole - share) for target, share in zip(laws.residual_target, shares, strict=True)
    )
    return recovered, total(missing)
