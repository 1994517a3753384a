"""The laws of one recorded step, by role and position, each worked out when it is asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from itertools import product
from typing import TypeVar

from specdist.model.options import ProcessingOptions
from specdist.model.recipe import Recipe
from specdist.model.role import ONE_HOT_ROLES, TARGET_ROLES, Role
from specdist.model.row import PointMass
from specdist.model.settings import CheckSettings
from specdist.model.trace import Conventions, TraceStep
from specdist.processing import RowContext
from specdist.verify.plan import Plan
from specdist.verify.position_check import row_context
from specdist.verify.replay.known_law import KnownLaw, known_laws
from specdist.verify.replay.recorded_rows import recorded_step

Shift = Callable[[int], int | None]
"""From a position to the number of the row that it is thought to have used; None: no such row."""

Answer = TypeVar("Answer")


def in_place(position: int) -> int:
    """The alignment that a trace states."""
    return position


@dataclass(frozen=True, slots=True)
class Alignment:
    """Which rows of each side the positions are thought to have used."""

    target: Shift = in_place
    draft: Shift = in_place


AS_STATED = Alignment()


class StepLaws:
    """The laws of a step under the settings of ``plan``. ``one_hot`` draft roles have no law."""

    def __init__(
        self, step: TraceStep, plan: Plan, settings: CheckSettings, conventions: Conventions
    ) -> None:
        self.step, self.conventions = step, conventions
        self.one_hot = frozenset(
            role for role, recipe in plan.recipes.recipes.items() if recipe.one_hot
        )
        if plan.use.name == "one-hot":
            self.one_hot |= frozenset(ONE_HOT_ROLES)
        self._plan, self._settings = plan, settings
        self._whole = recorded_step(step, ProcessingOptions())
        self._known: dict[tuple[int, Recipe], tuple[KnownLaw, ...]] = {}

    def of(
        self, role: Role, position: int, alignment: Alignment = AS_STATED
    ) -> tuple[KnownLaw, ...] | None:
        """The laws that a role may have at a position: several where a cut is close, none where it
        cannot be told; None where there is no row."""
        ours = role in TARGET_ROLES
        rows = self.step.target_rows if ours else self.step.draft_rows
        number = (alignment.target if ours else alignment.draft)(position)
        if number is None or not 0 <= number < len(rows):
            return None
        row, recipe = rows[number], self._plan.recipes.recipes[role]
        if isinstance(row.values, PointMass):
            recipe = Recipe()
        key = (id(row), recipe)
        if key not in self._known:
            context = self._context(number)
            self._known[key] = known_laws(row, recipe, context, self.conventions.arithmetic)
        return self._known[key]

    def _context(self, number: int) -> RowContext:
        positions = self._whole.positions
        position = positions[number] if number < len(positions) else None
        context = row_context(self._whole, position, number, self._plan, self._settings)
        return replace(context, target_size=self.step.target_rows[0].size)


def judged(judge: Callable[..., Answer], *laws: Iterable[KnownLaw]) -> list[Answer]:
    """``judge`` for every combination of the laws that may have been used."""
    return [judge(*chosen) for chosen in product(*laws)]


def agreed(answers: Iterable[bool | None]) -> bool | None:
    """What all answers say; None where they differ, leave it open, or are none."""
    found = set(answers)
    return found.pop() if len(found) == 1 else None
