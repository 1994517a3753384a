"""Applies a recipe to a row of which only a part is known.

A `ListedValues` row stands for every complete row that agrees with it. `apply_partial` gives the
one distribution that the recipe makes of all of them, where the listed tokens prove it, and
otherwise a `PartialLaw` that holds for each: no part is renormalised, no mass is invented.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass

from specdist.exact.law import Law
from specdist.exact.partial_law import PartialLaw
from specdist.model.recipe import Recipe
from specdist.model.row import Row
from specdist.processing.context import RowContext
from specdist.processing.working_row import Remark


@dataclass(frozen=True, slots=True)
class PartialProcessed:
    """What a recipe makes of a row that is known in part.

    ``law`` is a plain `Law` over ``size`` tokens where every possible token is listed and sharp
    after processing: it is exact, like that of any complete row. Otherwise it is a `PartialLaw`,
    which every distribution satisfies that a complete row of these listed values may lead to.
    ``origin``: two results of equal origin stand for one distribution, however little is known
    of it (the same captured row through the same steps). ``open_ended``: ``size`` is only the
    smallest that the vocabulary can be.
    """

    law: Law | PartialLaw
    remarks: tuple[Remark, ...]
    origin: Hashable
    size: int
    open_ended: bool = False


def apply_partial(recipe: Recipe, row: Row, context: RowContext) -> PartialProcessed:
    """The distribution that ``recipe`` makes of ``row``, whose values are `ListedValues`.

    Raises `RowError` for listed values that belong to no distribution (a sum beyond one, a rest
    that no token can hold, NaN) and for a step that empties the row; `SettingsError` for steps
    that do not fit the row (as `apply_recipe` does), and for a step that needs more of the row
    than is known, with what to capture instead.
    """
    raise NotImplementedError
