"""How far apart the references of two settings lie on the same rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction

from specdist.exact.law import Law
from specdist.exact.vectors import same_law, vectors_of_laws
from specdist.model.capture import Capture, Unreadable
from specdist.model.figure import Figure
from specdist.model.recipe import Recipe
from specdist.model.role import Role
from specdist.model.settings import Settings
from specdist.processing import apply_recipe
from specdist.verify.comparison import probability
from specdist.verify.plan import Plans
from specdist.verify.position_check import row_context
from specdist.verify.position_laws import role_fillings
from specdist.verify.run import check


def reference_distance(
    captures: Sequence[Capture | Unreadable], first: Settings, other: Settings
) -> Figure | None:
    """The largest total variation between the references of two settings over all positions.

    None without a position. Raises SpecdistError for rows and settings that do not fit.
    """
    largest: tuple[Fraction, Fraction] | None = None
    for one, two in zip(_references(captures, first), _references(captures, other), strict=True):
        found = (Fraction(0), Fraction(0))
        if one.size == two.size and not same_law(one, two):
            vectors = vectors_of_laws({"one": one, "two": two})
            above = (vectors["one"] - vectors["two"]).positive_part()
            found = (above.total(), above.error)
        elif one.size != two.size:
            found = (Fraction(1), Fraction(0))
        largest = found if largest is None else max(largest, found)
    return None if largest is None else probability(*largest)


def _references(captures: Sequence[Capture | Unreadable], settings: Settings) -> Iterator[Law]:
    checking, plans = settings.checking, Plans(settings.checking)
    run = check(captures, settings)
    for capture in captures:
        if isinstance(capture, Unreadable):
            continue
        for step in run.selected(capture):
            plan = plans.of(step)
            for position in step.positions:
                context = row_context(step, position, position.index, plan, checking)
                recipes, rows = role_fillings(
                    position.roles, plan.recipes.recipes, checking.overrides.roles
                )
                own = rows.get(Role.REFERENCE)
                recipe = recipes[Role.REFERENCE] if own is None else Recipe()
                yield apply_recipe(recipe, own or position.target, context).law
