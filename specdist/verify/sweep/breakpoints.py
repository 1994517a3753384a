"""Where a rate along top-p, min-p or epsilon may change: the masses at which a token joins the cut.

The step keeps a set of tokens that depends on its value only through comparisons with numbers of
the row as the earlier steps leave it: cumulative masses (top-p), shares of the most likely token
(min-p), probabilities (epsilon). Between two of them every law, and so the rate, is constant. The
numbers are known exactly where nothing was rounded before the step.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate

from specdist.exact.vectors import rational
from specdist.model.capture import Position, Step
from specdist.model.recipe import Recipe, RecipeStep
from specdist.model.role import TARGET_ROLES, Role
from specdist.model.row import PointMass, Row
from specdist.model.settings import CheckSettings
from specdist.processing import RowContext, apply_recipe
from specdist.verify.plan import Plan, Plans
from specdist.verify.position_check import row_context
from specdist.verify.position_laws import role_fillings
from specdist.verify.sweep.cells import Breakpoints
from specdist.verify.sweep.rate import is_plain

MOST_TOKENS = 1 << 17
"""Rows of more tokens in all are left to narrowing: their fractions would not be read anyway."""

Masses = Callable[[list[Fraction]], Iterable[Fraction]]


def _cumulative(shares: list[Fraction]) -> Iterable[Fraction]:
    return accumulate(sorted(shares, reverse=True))


def _relative(shares: list[Fraction]) -> Iterable[Fraction]:
    largest = max(shares)
    return (share / largest for share in shares)


def _themselves(shares: list[Fraction]) -> Iterable[Fraction]:
    return shares


_MASSES: dict[str, tuple[Masses, dict[str, tuple[str, ...]]]] = {
    "top-p": (_cumulative, {"boundary": ("reach", "exceed"), "threshold": ("exact",)}),
    "min-p": (_relative, {}),
    "epsilon": (_themselves, {}),
}
"""Numbers that the value of a step is compared with, and the options under which it is."""
_ON_THE_WHOLE_CHAIN = "lazy-allowed"


@dataclass(frozen=True, slots=True)
class _Cut:
    """A row, what is done to it before the swept step, and that step."""

    row: Row
    before: Recipe
    step: RecipeStep
    context: RowContext


def breakpoints_of(
    steps: Sequence[Step],
    settings_at: Callable[[Fraction], CheckSettings],
    low: Fraction,
    high: Fraction,
) -> Breakpoints | None:
    """Every value from ``low`` to ``high`` at which the rate of these steps may change.

    ``settings_at`` gives the settings at a value. None where the rate is not constant between
    numbers that are known exactly: other steps than those above, two of them under one value,
    rounded weights, rows known in part, rules over proposals, too many tokens.
    """
    found: set[Fraction] = set()
    tokens = 0
    seen: dict[tuple[int, Recipe], None] = {}
    try:
        for cut in _cuts(steps, settings_at, low, high):
            key = (id(cut.row), cut.before)
            if key in seen:
                continue
            seen[key] = None
            tokens += cut.row.size
            if tokens > MOST_TOKENS:
                return None
            found |= _compared_with(cut, low, high)
    except _UnknownError:
        return None
    ordered = sorted(found)

    def between(least: Fraction, most: Fraction) -> Sequence[Fraction]:
        return ordered[bisect_left(ordered, least) : bisect_right(ordered, most)]

    return between


class _UnknownError(Exception):
    """The rate may change elsewhere too."""


def _compared_with(cut: _Cut, low: Fraction, high: Fraction) -> set[Fraction]:
    law = apply_recipe(cut.before, cut.row, cut.context).law
    if law.bound:
        raise _UnknownError
    shares = [share for share in rational(law).values if share]
    masses, _ = _MASSES[cut.step.name]
    return {mass for mass in masses(shares) if low <= mass <= high}


def _cuts(
    steps: Sequence[Step],
    settings_at: Callable[[Fraction], CheckSettings],
    low: Fraction,
    high: Fraction,
) -> Iterator[_Cut]:
    ends = (settings_at(low), settings_at(high))
    plans = tuple(Plans(settings) for settings in ends)
    for step in steps:
        first, last = (known.of(step) for known in plans)
        if not is_plain(step, first) or not _differ_in_recipes_only(first, last):
            raise _UnknownError
        for position in step.positions:
            recipes = tuple(
                role_fillings(position.roles, plan.recipes.recipes, settings.overrides.roles)
                for plan, settings in zip((first, last), ends, strict=True)
            )
            context = row_context(step, position, position.index, first, ends[0])
            rows = recipes[0][1]
            for role in Role:
                row = rows.get(role) or _row_of(role, position)
                if role in rows or isinstance(row.values, PointMass):
                    continue
                cut = _swept(recipes[0][0][role], recipes[1][0][role], low, high)
                if cut is not None:
                    yield _Cut(row, *cut, context)


def _differ_in_recipes_only(first: Plan, last: Plan) -> bool:
    mine = (first.use, first.numerics, first.proposal, first.keep_options)
    return mine == (last.use, last.numerics, last.proposal, last.keep_options)


def _row_of(role: Role, position: Position) -> Row:
    return position.target if role in TARGET_ROLES else position.draft


def _swept(
    first: Recipe, last: Recipe, low: Fraction, high: Fraction
) -> tuple[Recipe, RecipeStep] | None:
    """The one step that the value changes, and the recipe before it; None where none does."""
    if first == last:
        return None
    if len(first.steps) != len(last.steps):
        raise _UnknownError
    pairs = list(zip(first.steps, last.steps, strict=True))
    changed = [index for index, (a, b) in enumerate(pairs) if a != b]
    if len(changed) != 1 or any(step.name == _ON_THE_WHOLE_CHAIN for step in first.steps):
        raise _UnknownError
    one, other = pairs[changed[0]]
    if not (_is_comparison(one, low) and _is_comparison(other, high)):
        raise _UnknownError
    return Recipe(first.steps[: changed[0]]), one


def _is_comparison(step: RecipeStep, value: Fraction) -> bool:
    """Whether the step compares that very value with the numbers of its row."""
    if step.name not in _MASSES or step.number() != value:
        return False
    _, options = _MASSES[step.name]
    return all(step.word(key) in allowed for key, allowed in options.items())
