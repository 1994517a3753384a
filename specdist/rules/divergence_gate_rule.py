"""A gate on the divergence of the two rows: close rows are not tested.

Law. ``TV(P, Q) <= T`` with P = `accept_target`, Q = `accept_draft`: accept everything, output D.
Otherwise token verification. At T = 0 the gate opens only for equal rows, so that is lossless.

Raises SettingsError for a one-hot draft row. Source: fuzzy speculative decoding, 2502.20704, with
the total variation as divergence and the token rule as the other branch.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from specdist.errors import SettingsError
from specdist.model.recipe import RecipeStep
from specdist.model.role import Role
from specdist.model.step_forms import Option
from specdist.model.value_texts import Interval, number_within, one_of
from specdist.rules.always_rule import accept_everything
from specdist.rules.outcomes import Outcomes, RoleLaws
from specdist.rules.rule import Rule
from specdist.rules.token_rule import token_verification


def gate_outcomes(laws: RoleLaws, use: RecipeStep) -> Outcomes:
    """Accepted and recovered mass of every token behind a gate (module docstring)."""
    if Role.ACCEPT_DRAFT in laws.one_hot:
        raise SettingsError(
            "rule divergence-gate compares rows, and accept_draft is one-hot",
            expected="a draft row",
        )
    limit = use.number()
    difference = laws[Role.ACCEPT_TARGET] - laws[Role.ACCEPT_DRAFT]
    variation = (difference.positive_part().total() * 2 - difference.total()) / 2
    opened = variation <= limit
    outcomes = accept_everything(laws) if opened else token_verification(laws)
    certain = laws.same(Role.ACCEPT_TARGET, Role.ACCEPT_DRAFT)
    if certain or abs(variation - limit) > difference.error:
        return outcomes
    return _undecided(outcomes, difference.error)


def _undecided(outcomes: Outcomes, error: Fraction) -> Outcomes:
    """The gate hangs on rounding: its two laws are at most 2 apart."""
    if not error:
        return outcomes
    doubt = Fraction(2)
    return replace(
        outcomes,
        accepted=outcomes.accepted.doubted(doubt),
        recovered=outcomes.recovered.doubted(doubt),
    )


DIVERGENCE_GATE = Rule(
    "divergence-gate",
    "token verification behind a divergence gate",
    "lossy",
    gate_outcomes,
    metavar="T",
    value=number_within(Interval(low=Fraction(0), high=Fraction(1))),
    options=(Option("divergence", one_of("tv"), "tv", "which divergence: tv"),),
    neutral=lambda use: use.number() == 0,
)
