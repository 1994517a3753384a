"""How far apart the references of two settings lie on the same rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction

from specdist.exact.law import Law
from specdist.exact.overlap_bounds import as_partial
from specdist.exact.partial_law import PartialLaw
from specdist.exact.vectors import same_law, vectors_of_laws
from specdist.model.capture import Capture, Position, Step, Unreadable
from specdist.model.figure import Figure
from specdist.model.recipe import Recipe
from specdist.model.role import Role
from specdist.model.settings import CheckSettings, Settings
from specdist.processing import Processed
from specdist.processing.partial_row import PartialProcessed
from specdist.verify.comparison import probability
from specdist.verify.joint.decoding_distance import Chosen, decoding_distance
from specdist.verify.partial.bounds import distance
from specdist.verify.partial.laws import is_same
from specdist.verify.plan import Plan, Plans
from specdist.verify.position_check import row_context
from specdist.verify.position_laws import RowShelf, role_fillings
from specdist.verify.run import check


def reference_distance(
    captures: Sequence[Capture | Unreadable], first: Settings, other: Settings
) -> Figure | None:
    """The largest total variation between the references of two settings: over all positions, and
    over whole outputs of steps with conditional models.

    None where nothing was compared. Raises SpecdistError for rows and settings that do not fit.
    """
    largest: tuple[Fraction, Fraction] | None = None
    pairs = zip(_chosen(captures, first), _chosen(captures, other), strict=True)
    for (step, mine), (_, others) in pairs:
        for found in _distances(step, mine, others):
            largest = found if largest is None else max(largest, found)
    return None if largest is None else probability(*largest)


def _chosen(
    captures: Sequence[Capture | Unreadable], settings: Settings
) -> Iterator[tuple[Step, Chosen]]:
    """Every selected step, with what the settings make of it."""
    plans, run = Plans(settings.checking), check(captures, settings)
    for capture in captures:
        if not isinstance(capture, Unreadable):
            for step in run.selected(capture):
                yield step, (plans.of(step), settings.checking)


def _distances(step: Step, first: Chosen, other: Chosen) -> Iterator[tuple[Fraction, Fraction]]:
    if step.models is not None and (whole := decoding_distance(step, first, other)) is not None:
        yield whole
    for position in step.positions:
        yield between_references(step, position, first, position, other)


def between_references(
    step: Step, position: Position, first: Chosen, again: Position, other: Chosen
) -> tuple[Fraction, Fraction]:
    """Total variation between the references of two settings at one position (``again`` is the
    position as the other settings have it), and how far it may be off: by rounding, or because the
    row is known in part."""
    one, two = _reference(step, position, *first), _reference(step, again, *other)
    if is_same(one, two):
        return Fraction(0), Fraction(0)
    if isinstance(one.law, PartialLaw) or isinstance(two.law, PartialLaw):
        found = distance(_in_part(one.law), _in_part(two.law))
        return (found.least + found.most) / 2, found.width / 2
    return _between(one.law, two.law)


def _in_part(law: Law | PartialLaw) -> PartialLaw:
    return law if isinstance(law, PartialLaw) else as_partial(law)


def _between(one: Law, two: Law) -> tuple[Fraction, Fraction]:
    if one.size != two.size:
        return Fraction(1), Fraction(0)
    if same_law(one, two):
        return Fraction(0), Fraction(0)
    vectors = vectors_of_laws({"one": one, "two": two})
    above = (vectors["one"] - vectors["two"]).positive_part()
    return above.total(), above.error


def _reference(
    step: Step, position: Position, plan: Plan, checking: CheckSettings
) -> Processed | PartialProcessed:
    context = row_context(step, position, position.index, plan, checking)
    recipes, rows = role_fillings(position.roles, plan.recipes.recipes, checking.overrides.roles)
    own = rows.get(Role.REFERENCE)
    recipe = recipes[Role.REFERENCE] if own is None else Recipe()
    return RowShelf(context).filled(own or position.target, recipe)
