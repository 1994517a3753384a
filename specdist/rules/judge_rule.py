"""Acceptance by a judge: a list of tokens that something else found good enough.

Law. ``T`` is the listed token ids, accepted as a set (`set_rule`). The residual is available as a
recovery because judges are put behind token verification too.

Raises SettingsError for ids outside the vocabulary. Source: judge decoding, 2501.19309, where a
classifier on the target's hidden state decides; the bits are inputs here.
"""

from __future__ import annotations

from collections.abc import Iterable

from specdist.errors import SettingsError
from specdist.model.recipe import RecipeStep
from specdist.model.role import Role
from specdist.model.value_texts import id_set
from specdist.rules.outcomes import Outcomes, RoleLaws
from specdist.rules.recovery import recovery_option
from specdist.rules.rule import Rule
from specdist.rules.set_rule import set_outcomes


def judge_outcomes(laws: RoleLaws, use: RecipeStep) -> Outcomes:
    """Accepted and recovered mass of every token under a judge (module docstring)."""
    listed = use.ids()
    refuse_outside("judge", listed, laws[Role.DRAFTED_FROM].size)
    return set_outcomes(laws, use, lambda vector: vector.among(listed))


def refuse_outside(label: str, tokens: Iterable[int], size: int) -> None:
    """Raises SettingsError for the first token id outside a vocabulary of ``size``."""
    for token in tokens:
        if token >= size:
            raise SettingsError(
                f"{label}: token {token} is outside the vocabulary",
                expected=f"token ids from 0 to {size - 1}",
            )


JUDGE = Rule(
    "judge",
    "acceptance by a judge",
    "lossy",
    judge_outcomes,
    metavar="IDS",
    value=id_set,
    options=(recovery_option("target", "residual", "set", "argmax"),),
    required=("recovery",),
    divides=False,
)
