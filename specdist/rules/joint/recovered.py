"""What follows a rejection in a rule over proposals: a positive part, normalised, or nothing."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from specdist.errors import SettingsError
from specdist.exact.bounded import surplus
from specdist.model.conditional import Prefix, written_prefix
from specdist.model.recipe import RecipeStep
from specdist.model.step_forms import Option
from specdist.model.value_texts import one_of
from specdist.rules.joint.outcomes import Law, Outcome

_ZERO, _ONE = Fraction(0), Fraction(1)

EMPTY = Option(
    "empty",
    one_of("ask", "first", "last", "target", "nothing"),
    "ask",
    "what follows a rejection whose residual is empty. ask: left open; first, last: that token of "
    "the vocabulary; target: a draw from residual_target; nothing: the step ends",
)
"""What an engine emits where a rejection is possible and its residual is empty."""


def without(law: Law, token: int) -> Law:
    """``law`` with 0 at ``token``, not normalised."""
    return (*law[:token], _ZERO, *law[token + 1 :])


def positive_part(target: Law, draft: Law, weight: Fraction = _ONE) -> Law:
    """``max(weight target - draft, 0)`` for every token, not normalised."""
    scaled = target if weight == 1 else tuple(weight * mass for mass in target)
    return tuple(surplus(above, below) for above, below in zip(scaled, draft, strict=True))


def normalised(masses: Sequence[Fraction]) -> Law | None:
    """The masses divided by their sum; None where that is 0."""
    total = sum(masses, _ZERO)
    if not total:
        return None
    return tuple(mass / total if mass else _ZERO for mass in masses)


def recovered(
    mass: Fraction,
    accepted: Prefix,
    masses: Law,
    target: Law,
    use: RecipeStep,
    error: Fraction = _ZERO,
) -> Outcome:
    """The outcome that keeps ``accepted`` and draws the next token from ``masses``, normalised.

    Where they are all 0 option ``empty`` says what follows; by default no rule names it.
    """
    law = normalised(masses)
    if law is not None:
        return Outcome(mass, accepted, law, error=error)
    open_question = use.word(EMPTY.name) == "ask"
    then = None if open_question else _instead(target, use)
    return Outcome(mass, accepted, then, unnamed=open_question, error=error)


def _instead(target: Law, use: RecipeStep) -> Law | int | None:
    how = use.word(EMPTY.name)
    if how == "target":
        return target
    if how == "nothing":
        return None
    return 0 if how == "first" else len(target) - 1


def untested(token: int, prefix: Prefix, use: RecipeStep) -> SettingsError:
    """The error of a drafted token whose tested draft probability is 0."""
    return SettingsError(
        f"{use.text}: token {token} is drafted after the prefix {written_prefix(prefix)}, and its "
        "probability in accept_draft is 0",
        expected="accept_draft above 0 wherever a token can be drafted",
        advice="target/0 has no value; engines differ in what they make of it",
    )
