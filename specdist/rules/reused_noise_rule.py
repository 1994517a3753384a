"""Token verification whose recovery reuses the noise of the draft: a known fault.

Law. The draft token is ``x = argmin E(y) / D(y)`` with exponentials E, the test is that of token
verification with its own uniform, and the recovered token is ``argmin E(y) / r(y)`` with the same E
and r the residual of token verification. Tokens that lost the draft race have long arrival times,
so what is likely in the draft is recovered too rarely. `exact.race` has the law; for two candidates
b and c with ``t = D(b) / r(b) - D(c) / r(c) > 0`` it gives ``P(b) = r(b) / (1 + r(c) t)``.

Raises SettingsError for more than about 256 possible tokens a row. Source: pull requests 47386 and
54282 of vLLM, which mend it.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import NamedTuple

from specdist.errors import SettingsError
from specdist.exact.race import race_after, race_error
from specdist.exact.sparse import from_entries, support
from specdist.exact.vector import ExactVector
from specdist.model.recipe import RecipeStep
from specdist.model.role import Role
from specdist.rules.outcomes import Outcomes, RoleLaws
from specdist.rules.recovery import equal_rows, residual
from specdist.rules.residuals import emptied, floored, nothing_refused, point
from specdist.rules.rule import Rule
from specdist.rules.token_rule import accepted_by_ratio

_MOST = 256
_ZERO = Fraction(0)


def reused_noise_outcomes(laws: RoleLaws, use: RecipeStep) -> Outcomes:
    """Accepted and recovered mass of every token under reused noise (module docstring)."""
    accepted = laws.reaching(accepted_by_ratio(laws))
    refused = laws.refused(accepted)
    rejected = refused.total()
    if not rejected:
        return nothing_refused(accepted, refused)
    races = _Races(laws)
    found: dict[int, Fraction] = {}
    lost = error = _ZERO
    for token, mass in races.by_token(refused).items():
        if mass <= 0:
            continue
        after = races.after(token)
        error += mass * after.error
        lost += _ZERO if after.law else mass
        for y, share in after.law.items():
            found[y] = found.get(y, _ZERO) + mass * share
    recovered = from_entries(accepted, found, error + accepted.error + refused.error)
    return emptied(laws, Outcomes(accepted, recovered, rejected), lost, _ZERO)


class _After(NamedTuple):
    """Who wins the second race, nobody where there is none, and how far rounding leaves that
    open."""

    law: Mapping[int, Fraction]
    error: Fraction


class _Races:
    """The rates of both races at one position."""

    def __init__(self, laws: RoleLaws) -> None:
        self._one_hot = Role.RESIDUAL_DRAFT in laws.one_hot
        floor = laws.numerics.residual_floor
        target, drafted = laws[Role.RESIDUAL_TARGET], laws[Role.DRAFTED_FROM]
        weights = floored(target, floor) if self._one_hot else residual(laws)
        instead = _last_resort(laws)
        self._tokens = _possible(drafted, weights, *([] if instead is None else [instead]))
        self._first = self.by_token(drafted)
        self._weights = self.by_token(weights)
        self._instead = None if instead is None else self.by_token(instead)
        self._errors = drafted.error, weights.error
        self._surely_empty = self._one_hot or not weights.error or equal_rows(laws)
        self._floor = floor
        self._common: _After | None = None

    def by_token(self, vector: ExactVector) -> dict[int, Fraction]:
        """The entries of a vector at the tokens that can be drafted or recovered."""
        return {token: vector.value(token) for token in self._tokens}

    def after(self, winner: int) -> _After:
        """The second race after ``winner`` won the first.

        Where the winner has no rate in the second race, that race does not depend on it.
        """
        weights = {**self._weights, winner: self._floor} if self._one_hot else self._weights
        mass = sum(weights.values(), _ZERO)
        open_error = _ZERO if mass or self._surely_empty else Fraction(2)
        if not mass and self._instead is not None:
            weights, mass = self._instead, sum(self._instead.values(), _ZERO)
        if not mass:
            return _After({}, open_error)
        apart_from_winner = not self._one_hot and not weights[winner]
        if apart_from_winner and self._common is not None:
            return self._common
        second = {y: weight / mass for y, weight in weights.items() if weight}
        apart = min(2 * max(self._errors) / mass, Fraction(2))
        error = race_error(self._first, second, winner, self._errors[0], apart)
        found = _After(race_after(self._first, second, winner), max(error, open_error))
        if apart_from_winner:
            self._common = found
        return found


def _last_resort(laws: RoleLaws) -> ExactVector | None:
    """What is drawn from, with the same noise, where the residual is empty."""
    policy, target = laws.numerics.empty_residual, laws[Role.RESIDUAL_TARGET]
    if policy.how == "target":
        return target
    return point(target, policy.token) if policy.how == "token" else None


def _possible(*vectors: ExactVector) -> list[int]:
    shares = [share for vector in vectors if (share := vector.positive_share()) is not None]
    if sum(share.size for share in shares) > 2 * _MOST:
        raise SettingsError(
            "rule reused-noise enumerates races, and too many tokens are possible here",
            expected=f"at most {_MOST} possible tokens a row",
            advice="cut the rows first, as with --top-k 50",
        )
    tokens = {token for vector in vectors for token in support(vector)}
    return sorted(tokens)


REUSED_NOISE = Rule(
    "reused-noise",
    "recovery with the noise of the draft",
    "faulty",
    reused_noise_outcomes,
    takes_keep=lambda use: False,
)
