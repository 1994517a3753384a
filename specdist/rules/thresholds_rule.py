"""One shared coin scans the children of a node, with two thresholds.

Law. Distinct children c_1 ... c_k in the order written, ``P_i = P(c_1) + ... + P(c_i)``, one
uniform u. Child i is accepted where u lies between hi_(i-1) and hi_i, with

    hi_i = max(hi_(i-1), min(1, P_i / ACC)),   1 from the first child with P(c_i) >= SINGLE on;

beyond the last one the token follows S without the children. Without ``children`` one draft token
is drawn from D: ``a(x) = 1`` where ``P(x) >= SINGLE``, else ``min(1, P(x) / ACC)``; then S without
x.
With both thresholds 1 the law is P for any children, as long as their choice does not look at u.

Thresholds are above 0 and at most 1, and at least 1e-9, to which the engine raises ACC. Raises
SettingsError for children that repeat or lie outside the vocabulary, and for children together
with dropped draft tokens. Source: SGLang 0.5.23, `tree_speculative_sampling_target_only`
(threshold_single, threshold_acc).
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from specdist.errors import SettingsError
from specdist.exact.accept_test import AcceptTest
from specdist.exact.vector import ExactVector
from specdist.model.recipe import RecipeStep
from specdist.model.role import Role
from specdist.model.step_forms import Option
from specdist.model.value_texts import Interval, number_within, read_ids
from specdist.rules.judge_rule import refuse_outside
from specdist.rules.one_hot_residual import recovered_without_drafted
from specdist.rules.one_hot_rule import as_one_hot
from specdist.rules.outcomes import Outcomes, RoleLaws
from specdist.rules.recovery import recovered_from
from specdist.rules.rule import Rule, target_as_reference
from specdist.rules.set_rule import at_least

_ZERO, _ONE = Fraction(0), Fraction(1)
_THRESHOLD = number_within(Interval(low=Fraction(1, 10**9), high=_ONE))


def thresholds_outcomes(laws: RoleLaws, use: RecipeStep) -> Outcomes:
    """Accepted and recovered mass of every token under two thresholds (module docstring)."""
    children = use.ids("children")
    single, acc = use.number("single"), use.number("acc")
    test = replace(laws.numerics.accept_test(), epsilon=_ZERO)
    if children:
        return _scanned(laws, children, single, acc, test)
    drafted, target = laws[Role.DRAFTED_FROM], laws[Role.ACCEPT_TARGET]
    nothing = drafted.scaled(_ZERO).widened(_ZERO)
    # A token of probability 1 passes a real-valued coin anyway.
    needless = single == 1 and test.ideal
    outright = nothing if needless else at_least(target, single)(drafted)
    accepted = laws.reaching(outright + _by_coin(drafted - outright, target, acc, test))
    plain = acc == 1 and outright.is_zero()
    return recovered_without_drafted(as_one_hot(laws), accepted, _ONE if plain else None)


def _by_coin(
    drafted: ExactVector, target: ExactVector, acc: Fraction, test: AcceptTest
) -> ExactVector:
    """``drafted(x) min(1, P(x) / ACC)``, or what a grid of uniforms makes of it."""
    edge = drafted.constant(acc)
    if not test.ideal:
        return drafted.accepted_from(target, edge, test)
    chance = target if acc == 1 else target.minimum(edge).scaled(1 / acc)
    return drafted.product(chance.widened(target.error))


def _scanned(
    laws: RoleLaws, children: tuple[int, ...], single: Fraction, acc: Fraction, test: AcceptTest
) -> Outcomes:
    target, beside = laws[Role.ACCEPT_TARGET], laws[Role.RESIDUAL_TARGET]
    refuse_outside("thresholds:children", children, target.size)
    if len(set(children)) != len(children):
        raise SettingsError(
            "thresholds:children names a token twice", expected="distinct token ids"
        )
    accepted = target.scaled(_ZERO).widened(_ZERO)
    held = reached = doubt = _ZERO
    for child in children:
        mass = target.value(child)
        if not mass:  # never accepted, whatever the coin
            continue
        held += mass
        level = max(reached, _ONE if mass >= single else test.chance(held, acc))
        accepted += target.constant(level - reached).among([child])
        if target.error and (abs(mass - single) <= target.error or test.grid is not None):
            doubt += 2 * (1 - reached)
        reached = level
    # Clipped sums are at most twice as far off as their summands.
    accepted = accepted.widened(min(2 * target.error / acc + doubt, Fraction(2)))
    return recovered_from(laws, accepted, beside - beside.among(children))


def _distinct_ids(label: str, text: str) -> tuple[int, ...]:
    """Token ids in the order written."""
    ids = read_ids(label, text)
    if not ids:
        raise SettingsError(f"{label}= names no token", expected="token ids joined with '+'")
    return ids


THRESHOLDS = Rule(
    "thresholds",
    "shared coin with two thresholds",
    "lossy",
    thresholds_outcomes,
    options=(
        Option("single", _THRESHOLD, _ONE, "a child of at least this probability is accepted"),
        Option("acc", _THRESHOLD, _ONE, "what the sum of the children's probabilities is over"),
        Option("children", _distinct_ids, (), "the drafted tokens in order, as 2+1"),
    ),
    neutral=lambda use: use.number("single") == use.number("acc") == 1,
    sufficient=target_as_reference,
    takes_keep=lambda use: not use.ids("children"),
    divides=False,
)
