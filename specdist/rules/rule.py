"""What an acceptance rule is: how it is written, what it claims, its outcomes, its page."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from specdist.model.recipe import RecipeStep
from specdist.model.role import Role
from specdist.model.step_forms import Option
from specdist.model.value_texts import Reader
from specdist.rules.outcomes import Outcomes, RoleLaws

Kind = Literal["lossless", "lossy", "faulty", "observed"]
"""What a rule claims: the target's law, a law near it, nothing (a known mistake), or no more than
what a capture says an engine did."""


def _never(use: RecipeStep) -> bool:
    return False


def _ever(use: RecipeStep) -> bool:
    return True


def target_as_reference(laws: RoleLaws) -> bool:
    """Test and residual use the reference."""
    return laws.same(Role.REFERENCE, Role.ACCEPT_TARGET) and laws.same(
        Role.REFERENCE, Role.RESIDUAL_TARGET
    )


def tests_reference(laws: RoleLaws) -> bool:
    """The test uses the reference; enough for rules that know no other target."""
    return laws.same(Role.REFERENCE, Role.ACCEPT_TARGET)


def tested_as_drafted(laws: RoleLaws) -> bool:
    """The right column of the role table: sufficient for a token rule to be lossless."""
    if not target_as_reference(laws):
        return False
    if laws.one_hot:
        return laws.tests_one_hot
    return laws.same(Role.DRAFTED_FROM, Role.ACCEPT_DRAFT) and laws.same(
        Role.RESIDUAL_DRAFT, Role.ACCEPT_DRAFT
    )


@dataclass(frozen=True, slots=True)
class Rule:
    """One acceptance rule for one position, written ``name[:value][:option=value...]``.

    ``outcomes`` takes the laws of a position and the rule as written, and raises `SettingsError`
    for parameters that make it invalid on these laws. ``neutral`` tells for which parameters a
    lossy rule is lossless, ``mistaken`` for which a lossless rule is a known mistake.
    ``sufficient`` tells from the roles alone that the output law is the reference, for a lossless
    rule in exact arithmetic. ``takes_keep``: whether dropped draft tokens make sense.
    ``divides``: whether a drafted token is tested by a ratio to `accept_draft`, so that its being 0
    there matters. ``whole_vocabulary``: for which parameters a token outside every law may be
    emitted.
    """

    name: str
    title: str
    kind: Kind
    outcomes: Callable[[RoleLaws, RecipeStep], Outcomes]
    metavar: str = ""
    value: Reader | None = None
    options: tuple[Option, ...] = ()
    required: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()
    neutral: Callable[[RecipeStep], bool] = _never
    mistaken: Callable[[RecipeStep], bool] = _never
    sufficient: Callable[[RoleLaws], bool] = tested_as_drafted
    whole_vocabulary: Callable[[RecipeStep], bool] = _never
    takes_keep: Callable[[RecipeStep], bool] = _ever
    divides: bool = True

    def lossless(self, use: RecipeStep) -> bool:
        """Whether the rule as written claims the target's law."""
        if self.kind == "lossless":
            return not self.mistaken(use)
        return self.kind == "lossy" and self.neutral(use)

    def lossy(self, use: RecipeStep) -> bool:
        """Whether the rule as written is not meant to preserve the target."""
        return self.kind == "lossy" and not self.neutral(use)

    @property
    def page(self) -> str:
        """What `specdist explain NAME` prints."""
        from importlib.resources import files

        page = files("specdist.rules").joinpath("pages", f"{self.name}.md")
        return page.read_text(encoding="utf-8")
