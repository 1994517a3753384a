"""What a processor is: its name, how its value and options are read, what it does, its page."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from specdist.errors import SettingsError
from specdist.model.recipe import Argument, RecipeStep
from specdist.model.step_forms import Option
from specdist.model.value_texts import Reader
from specdist.processing.context import RowContext
from specdist.processing.working_row import WorkingRow

Application = Callable[[WorkingRow, RecipeStep, RowContext], WorkingRow]


@dataclass(frozen=True, slots=True)
class Processor:
    """One kind of step.

    ``value`` reads the text after the name and raises `SettingsError` with the valid range.
    ``neutral`` is the value that changes nothing (None: there is none); such a step is kept in
    the recipe and skipped when the recipe is applied. ``neutral_when`` decides instead where
    options matter too. ``any_stage``: the step makes sense on a row that was processed already.
    ``summary`` is one line for ``--help``, ``page`` the text of ``specdist explain NAME``.
    """

    name: str
    metavar: str
    summary: str
    value: Reader
    apply: Application
    page: str
    options: tuple[Option, ...] = ()
    aliases: tuple[str, ...] = ()
    neutral: Argument | None = None
    required: tuple[str, ...] = field(default=())
    neutral_when: Callable[[RecipeStep], bool] | None = None
    any_stage: bool = False

    def is_neutral(self, step: RecipeStep) -> bool:
        """Whether this step changes no row whatsoever."""
        if self.neutral_when is not None:
            return self.neutral_when(step)
        return self.neutral is not None and step.argument("value") == self.neutral


def check_ids(step: RecipeStep, tokens: tuple[int, ...], size: int, origin: str) -> None:
    """Refuses token ids outside a vocabulary of ``size`` tokens."""
    for token in tokens:
        if not 0 <= token < size:
            raise SettingsError(
                f"{step.name}: token {token} {origin} is outside the vocabulary",
                expected=f"token ids from 0 to {size - 1}",
            )
