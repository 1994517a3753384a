"""From a position's rows to one law per role, and what the rows had to say on the way."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

from specdist.errors import ContextMismatchError, RowError, SpecdistError
from specdist.exact.law import Law
from specdist.exact.partial_law import PartialLaw
from specdist.model.recipe import Recipe
from specdist.model.report import RoleUse
from specdist.model.role import DRAFT_ROLES, ONE_HOT_ROLES, TARGET_ROLES, Role
from specdist.model.row import ListedValues, PointMass, Row
from specdist.processing import Processed, RowContext, apply_recipe, role_recipe
from specdist.processing.partial_row import PartialProcessed, apply_partial
from specdist.processing.working_row import Remark

_ONE_HOT = "one-hot"


class Noted(NamedTuple):
    """A remark about the row of one side."""

    side: str
    remark: Remark


class CloseCut(NamedTuple):
    """A step of a recipe that cuts within the rounding of a row's weights; see `Remark`."""

    side: str
    recipe: Recipe
    step: str
    leeway: Fraction | None
    message: str


@dataclass(frozen=True, slots=True)
class PositionLaws:
    """The law of each role; draft roles in ``one_hot`` are the point mass at the drafted token."""

    laws: Mapping[Role, Law]
    one_hot: frozenset[Role]
    uses: tuple[RoleUse, ...]
    noted: tuple[Noted, ...]
    close_cuts: tuple[CloseCut, ...] = ()

    @property
    def one_law_a_side(self) -> bool:
        """Whether all roles of a side have one law, by construction; one-hot tests count as one."""
        target = {id(law) for role, law in self.laws.items() if role in TARGET_ROLES}
        draft = {id(law) for role, law in self.laws.items() if role in DRAFT_ROLES}
        tested_one_hot = len(self.one_hot) == len(ONE_HOT_ROLES)
        return len(target) == 1 and len(draft) <= 1 and (tested_one_hot or not self.one_hot)

    @property
    def drafted_or_tested_by_row(self) -> bool:
        """Whether the capture itself gives the law of `drafted_from` or `accept_draft`."""
        roles = (Role.DRAFTED_FROM.value, Role.ACCEPT_DRAFT.value)
        return any(use.recipe == "row" for use in self.uses if use.role in roles)


@dataclass(frozen=True, slots=True)
class FilledRoles:
    """Every role of a position as its recipe fills it, also from rows that are known in part; the
    other members are those of `PositionLaws`."""

    processed: Mapping[Role, Processed | PartialProcessed]
    one_hot: frozenset[Role]
    uses: tuple[RoleUse, ...]
    noted: tuple[Noted, ...]
    close_cuts: tuple[CloseCut, ...]
    open_cuts: tuple[str, ...] = ()
    """What cuts of partial laws leave open; the laws hold for every outcome."""

    @property
    def complete_laws(self) -> dict[Role, Law]:
        """The laws that are known as a whole."""
        laws = {role: made.law for role, made in self.processed.items()}
        return {role: law for role, law in laws.items() if not isinstance(law, PartialLaw)}


class RowShelf:
    """Processed rows of one position, so that roles with one recipe share one law."""

    def __init__(self, context: RowContext) -> None:
        self._context = context
        self._processed: dict[tuple[int, Recipe], Processed | PartialProcessed] = {}

    def processed(self, row: Row, recipe: Recipe) -> Processed:
        """The row after the recipe; a row known in part raises RowError."""
        made = self.filled(row, recipe)
        if isinstance(made, Processed):
            return made
        raise RowError(
            "the row is known in part only",
            place=row.place,
            expected="every possible token listed",
        )

    def filled(self, row: Row, recipe: Recipe) -> Processed | PartialProcessed:
        """The row after the recipe. A point mass is a fact, which no recipe changes."""
        if isinstance(row.values, PointMass):
            recipe = Recipe()
        key = (id(row), recipe)
        if key not in self._processed:
            in_part = isinstance(row.values, ListedValues)
            apply = apply_partial if in_part else apply_recipe
            try:
                self._processed[key] = apply(recipe, row, self._context)
            except SpecdistError as error:
                raise error.at(row.place) from None
        return self._processed[key]


def position_laws(
    target: Row,
    draft: Row | None,
    recipes: Mapping[Role, Recipe],
    rows: Mapping[Role, Row],
    context: RowContext,
    fresh: bool = False,
) -> PositionLaws:
    """Laws of the roles of one position, see `filled_roles`. Raises RowError for a role of which
    the rows leave something open."""
    found = filled_roles(target, draft, recipes, rows, context, fresh)
    laws = found.complete_laws
    for role in found.processed:
        if role not in laws:
            row = rows.get(role) or (target if draft is None or role in TARGET_ROLES else draft)
            raise RowError(
                f"the law of {role.value} is known in part only",
                place=row.place,
                expected="every possible token listed",
            )
    _refuse_other_sizes(laws, target, draft)
    return PositionLaws(laws, found.one_hot, found.uses, found.noted, found.close_cuts)


def filled_roles(
    target: Row,
    draft: Row | None,
    recipes: Mapping[Role, Recipe],
    rows: Mapping[Role, Row],
    context: RowContext,
    fresh: bool = False,
) -> FilledRoles:
    """The roles of one position as their recipes fill them. ``rows`` holds the roles that a capture
    fills with a row of their own, taken as it is. ``draft`` is None for a bonus row, which has only
    the reference and `bonus_from`; with ``fresh`` a drafted position has `bonus_from` as well, for
    tokens that are sampled from the target in place of dropped ones."""
    shelf = RowShelf(context)
    made: dict[Role, Processed | PartialProcessed] = {}
    one_hot: set[Role] = set()
    uses: list[RoleUse] = []
    noted: dict[Noted, None] = {}
    close: dict[CloseCut, None] = {}
    left_open: dict[str, None] = {}
    for role, side, row in _filled_roles(target, draft, fresh):
        own = rows.get(role)
        recipe = recipes[role] if own is None else Recipe()
        if recipe.one_hot:
            one_hot.add(role)
            uses.append(RoleUse(role.value, side, _ONE_HOT, 1))
            continue
        made[role] = processed = shelf.filled(row if own is None else own, recipe)
        written = str(recipe) if own is None else "row"
        uses.append(RoleUse(role.value, side, written, _support(processed.law)))
        in_part = isinstance(processed.law, PartialLaw)
        for remark in processed.remarks:
            if in_part and remark.ident in ("undecided-precision", "truncated-row"):
                left_open[f"{side}: {remark.message}"] = None
            elif remark.ident == "undecided-precision":
                close[CloseCut(side, recipe, remark.step, remark.leeway, remark.message)] = None
            else:
                noted[Noted(side, remark)] = None
    return FilledRoles(
        made, frozenset(one_hot), tuple(uses), tuple(noted), tuple(close), tuple(left_open)
    )


def _support(law: Law | PartialLaw) -> int | None:
    """How many tokens are possible, None where nothing bounds them."""
    if isinstance(law, PartialLaw):
        return None if law.others is None else len(law.ids) + law.others
    return law.support


def _refuse_other_sizes(laws: Mapping[Role, Law], target: Row, draft: Row | None) -> None:
    """Target and draft rows must end up over one vocabulary."""
    size = laws[Role.REFERENCE].size
    for role, law in laws.items():
        if law.size != size:
            row = target if draft is None or role in TARGET_ROLES else draft
            raise ContextMismatchError(
                f"{role.value} is a row of {law.size}, the reference of {size} tokens",
                place=row.place,
                expected="rows over one vocabulary",
                advice="a draft vocabulary of its own needs its map to target ids: --draft-map "
                "FILE, or vocab-map:given in the recipe of a role; padding is cut or added by "
                f"--draft-vocab-size {size}, or by the step vocab-size:{size} in the recipe of a "
                "role",
            )


def role_fillings(
    entries: Mapping[Role, str | Row], recipes: Mapping[Role, Recipe], fixed: Mapping[Role, str]
) -> tuple[dict[Role, Recipe], dict[Role, Row]]:
    """Recipes and rows of the roles when a position has ``entries`` of its own; the roles in
    ``fixed`` were given on the command line, which wins."""
    chosen = dict(recipes)
    rows = {}
    for role, entry in entries.items():
        if role in fixed:
            continue
        if isinstance(entry, Row):
            rows[role] = entry
        else:
            chosen[role] = role_recipe(role.value, entry)
    return chosen, rows


def _filled_roles(target: Row, draft: Row | None, fresh: bool) -> list[tuple[Role, str, Row]]:
    if draft is None:
        return [(role, "target", target) for role in (Role.REFERENCE, Role.BONUS_FROM)]
    filled = [
        (role, "target", target) for role in TARGET_ROLES if fresh or role is not Role.BONUS_FROM
    ]
    return filled + [(role, "draft", draft) for role in DRAFT_ROLES]
