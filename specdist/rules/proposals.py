"""Effective proposals: a rule whose draft tokens are kept with probability k(x) before the test.

Law, with m the accepted and R the recovered mass of the rule on what reaches it, K = sum D k:

    dropped=target     out = accepted(D k) + recovered + (1 - K) B        B = `bonus_from`
    dropped=residual   a dropped token counts as rejected
    dropped=redraw     drafted from D k / K; up to N redraws: D k (1 + d + ... + d^(N-1)) + d^N D
                       with d = 1 - K
    after the test     out = k accepted + recovered + (accepted - k accepted)(V) B

``effective``: test and residual use the same share of the declared draft, ``q'(x) = q(x) k(x)``, a
sub-probability. With dropped=residual or redraw that restores the target. Source: theory of the
effective proposal at one position: ``out = k m + R res + (1 - K) P`` is P iff k is constant, where
P has full support.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction

from specdist.errors import SettingsError
from specdist.exact.vector import ExactVector
from specdist.model.proposal import Proposal
from specdist.model.recipe import RecipeStep
from specdist.model.role import ONE_HOT_ROLES, Role
from specdist.rules.outcomes import Outcomes, RoleLaws, Share
from specdist.rules.rule import Rule

_ZERO, _ONE = Fraction(0), Fraction(1)


@dataclass(frozen=True, slots=True)
class Kept:
    """What reached the test: its mass K and how far rounding leaves it open, and the share
    k(x) v(x) of any vector."""

    mass: Fraction
    error: Fraction
    share: Share


def kept_by(laws: RoleLaws, share: Share) -> Kept:
    """The draft tokens that reach the test at all."""
    drafted = laws[Role.DRAFTED_FROM]
    reaching = share(drafted)
    mass = reaching.total()
    constant = reaching.error <= drafted.error and (reaching - drafted.scaled(mass)).is_zero()
    return Kept(mass, _ZERO if constant else reaching.error, share)


def proposal_outcomes(
    rule: Rule, use: RecipeStep, laws: RoleLaws, proposal: Proposal, share: Share
) -> Outcomes:
    """Outcomes of ``rule`` on the draft tokens that the proposal lets through (module docstring).

    Raises SettingsError where the redraw never ends, and for rules that know no dropped tokens.
    """
    if not rule.takes_keep(use):
        raise SettingsError(
            f"rule {use.text} has no drafted token that could be dropped",
            expected="--keep with a rule that tests one drafted token",
        )
    if proposal.after_test:
        return _cut_after(rule.outcomes(laws, use), laws, share)
    kept = kept_by(laws, share)
    reaching = _reaching(kept, proposal)
    offered = laws[Role.DRAFTED_FROM] if proposal.dropped == "residual" else None
    if proposal.effective:
        tried = _tested_effectively(replace(laws, offered=offered), reaching)
    else:
        tried = replace(laws, tried=reaching, offered=offered)
    outcomes = rule.outcomes(tried, use)
    if proposal.dropped != "target":
        return outcomes
    fresh = laws[Role.BONUS_FROM].scaled(_ONE - kept.mass, kept.error)
    return replace(
        outcomes,
        recovered=(outcomes.recovered + fresh).doubted(kept.error),
        rejected=_ONE - outcomes.accepted.total(),
    )


def drafted_laws(laws: RoleLaws, proposal: Proposal, share: Share) -> RoleLaws:
    """The laws with the draft token's law where dropped tokens are drawn again: that of the token
    which comes to the test. With an effective proposal it is tested and subtracted as well."""
    if proposal.dropped != "redraw":
        return laws
    reaching = _reaching(kept_by(laws, share), proposal)
    if proposal.effective:
        return _tested_effectively(laws, reaching)
    drafted = reaching(laws[Role.DRAFTED_FROM])
    return replace(laws, vectors={**laws.vectors, Role.DRAFTED_FROM: drafted})


def _reaching(kept: Kept, proposal: Proposal) -> Share:
    if proposal.dropped != "redraw":
        return kept.share
    if proposal.redraws is None:
        if not kept.mass:
            raise SettingsError(
                "no token that is drafted is ever kept, so redrawing never ends",
                expected="a keep rule that keeps something, or --dropped target",
            )
        mass, least = kept.mass, kept.mass - kept.error
        apart = kept.error / (mass * least) if least > 0 else 2 / mass
        return lambda vector: kept.share(vector).scaled(1 / mass, apart)
    dropped, count = _ONE - kept.mass, proposal.redraws
    again = sum((dropped**n for n in range(count)), _ZERO)
    apart = kept.error * count * (count - 1) / 2  # the slope of `again` is at most this sum

    def reaching(vector: ExactVector) -> ExactVector:
        last = vector.scaled(dropped**count, kept.error * count)
        return kept.share(vector).scaled(again, apart) + last

    return reaching


def _tested_effectively(laws: RoleLaws, reaching: Share) -> RoleLaws:
    """Drafted from, tested against and subtracted: the share of the draft that reaches the test."""
    shared: dict[int, ExactVector] = {}
    vectors = dict(laws.vectors)
    for role in (Role.DRAFTED_FROM, *ONE_HOT_ROLES):
        if role not in laws.one_hot:
            vector = vectors[role]
            shared.setdefault(id(vector), reaching(vector))
            vectors[role] = shared[id(vector)]
    return replace(laws, vectors=vectors)


def _cut_after(outcomes: Outcomes, laws: RoleLaws, share: Share) -> Outcomes:
    kept = share(outcomes.accepted)
    dropped = outcomes.accepted - kept
    cut = dropped.total()
    error = _ZERO if kept.same_as(outcomes.accepted) else dropped.error
    return replace(
        outcomes,
        accepted=kept,
        recovered=outcomes.recovered + laws[Role.BONUS_FROM].scaled(cut, error),
        rejected=outcomes.rejected + cut,
    )
