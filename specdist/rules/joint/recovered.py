"""What follows a rejection in a rule over proposals: a positive part, normalised, or nothing."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from specdist.errors import SettingsError
from specdist.model.conditional import Prefix, written_prefix
from specdist.model.recipe import RecipeStep
from specdist.model.step_forms import Option
from specdist.model.value_texts import one_of
from specdist.rules.joint.outcomes import Law

_ZERO, _ONE = Fraction(0), Fraction(1)

EMPTY = Option(
    "empty",
    one_of("ask", "first", "last", "target", "nothing"),
    "ask",
    "what follows a rejection whose residual is empty. ask: an error; first, last: that token id; "
    "target: a draw from residual_target; nothing: the step ends",
)
"""What an engine emits where a rejection is possible and its residual is empty."""


def without(law: Law, token: int) -> Law:
    """``law`` with 0 at ``token``, not normalised."""
    return (*law[:token], _ZERO, *law[token + 1 :])


def positive_part(target: Law, draft: Law, weight: Fraction = _ONE) -> Law:
    """``max(weight target - draft, 0)`` for every token, not normalised."""
    scaled = target if weight == 1 else tuple(weight * mass for mass in target)
    return tuple(
        above - below if above > below else _ZERO
        for above, below in zip(scaled, draft, strict=True)
    )


def normalised(masses: Sequence[Fraction]) -> Law | None:
    """The masses divided by their sum; None where that is 0."""
    total = sum(masses, _ZERO)
    if not total:
        return None
    return tuple(mass / total if mass else _ZERO for mass in masses)


def recovery(masses: Law, target: Law, prefix: Prefix, use: RecipeStep) -> Law | int | None:
    """The law of a recovered token after ``prefix``: the masses normalised, or what option
    ``empty`` says where they are all 0.

    Raises SettingsError where it says nothing.
    """
    law = normalised(masses)
    if law is not None:
        return law
    how = use.word(EMPTY.name)
    if how == "ask":
        raise SettingsError(
            f"{use.text}: a rejection is possible after the prefix {written_prefix(prefix)}, and "
            "the residual that should replace it is empty",
            expected="a residual_target above residual_draft for some token",
            advice=f"write {use.name}:empty=first, last, target or nothing, as the engine does",
        )
    return {"first": 0, "last": len(target) - 1, "target": target, "nothing": None}[how]


def untested(token: int, prefix: Prefix, use: RecipeStep) -> SettingsError:
    """The error of a drafted token whose tested draft probability is 0."""
    return SettingsError(
        f"{use.text}: token {token} is drafted after the prefix {written_prefix(prefix)}, and its "
        "probability in accept_draft is 0",
        expected="accept_draft above 0 wherever a token can be drafted",
        advice="target/0 has no value; engines differ in what they make of it",
    )
