"""What a rule over proposals is: how it is written, what it claims, its outcomes, its page."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from specdist.model.draft_tree import DraftTree, Siblings
from specdist.model.recipe import RecipeStep
from specdist.model.role import Role
from specdist.model.step_forms import Option
from specdist.model.value_texts import Reader
from specdist.rules.joint.outcomes import Drafted, Outcome, PrefixLaws
from specdist.rules.rule import Kind

Enumerated = Callable[[Drafted, PrefixLaws, RecipeStep], Iterable[Outcome]]
"""The outcomes of one proposal, of total mass 1."""

Walked = Callable[[DraftTree, PrefixLaws, RecipeStep], Iterable[Outcome]]
"""The outcomes of a step over all its proposals at once, of total mass 1: a recursion over
prefixes in place of the enumeration of proposals, where subtrees are independent."""


def _never(use: RecipeStep) -> bool:
    return False


@dataclass(frozen=True, slots=True)
class JointRule:
    """One rule over proposals, written ``name[:value][:option=value...]``.

    ``outcomes`` is the definition. ``walk``, where there is one, is the fast route to the same law,
    and ``walk_size`` says how many outcomes it lists at most. ``check`` raises `SettingsError` for
    a tree or parameters that the rule cannot take, before anything is enumerated. ``mistaken``
    tells for which parameters a lossless rule is a known mistake, ``neutral`` for which a lossy
    rule is lossless. ``per_node``: the rule decides node by node from the root, so that what it
    does at one node depends on nothing else that was drafted. ``open_roles`` may be filled in any
    way without being a fault. ``siblings``: drawn in these ways, and tested with the law that they
    were drawn from, the children of a node leave a lossless rule lossless. ``foreign``: a user
    wrote it, so that its claim proves nothing and nothing is known of what rounding does to it.
    """

    name: str
    title: str
    kind: Kind
    outcomes: Enumerated
    walk: Walked | None = None
    walk_size: Callable[[DraftTree, int], int] | None = None
    check: Callable[[DraftTree, PrefixLaws, RecipeStep], None] | None = None
    metavar: str = ""
    value: Reader | None = None
    options: tuple[Option, ...] = ()
    required: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()
    mistaken: Callable[[RecipeStep], bool] = _never
    neutral: Callable[[RecipeStep], bool] = _never
    per_node: bool = False
    open_roles: frozenset[Role] = frozenset()
    siblings: tuple[Siblings, ...] = ()
    foreign: bool = False

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

        page = files("specdist.rules.joint").joinpath("pages", f"{self.name}.md")
        return page.read_text(encoding="utf-8")
