"""The rows of a recorded step, processed once each, and what they say of single tokens."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING

from specdist.errors import SpecdistError
from specdist.exact.law import FloatLaw, Law, LogScores, RationalLaw
from specdist.model.capture import Position, Step
from specdist.model.options import ProcessingOptions
from specdist.model.recipe import Recipe
from specdist.model.row import FloatValues, ListedValues, PointMass, RationalValues, Row
from specdist.model.settings import CheckSettings
from specdist.model.trace import TraceStep
from specdist.processing import RowContext, apply_recipe
from specdist.verify.plan import Plan
from specdist.verify.position_check import row_context

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_ZERO = Fraction(0)


def recorded_step(step: TraceStep, options: ProcessingOptions) -> Step:
    """The rows of a recorded step as a step to verify: a position for every draft row that has a
    target row, and the bonus row where one is left. ``draft_tokens`` are the proposed ids."""
    drafted = proposed(step)
    positions = tuple(
        Position(i, target, draft, drafted[i] if i < len(drafted) else None)
        for i, (target, draft) in enumerate(zip(step.target_rows, step.draft_rows, strict=False))
    )
    left = step.target_rows[len(positions) :]
    return Step(
        id=step.id,
        source=step.source,
        positions=positions,
        bonus=left[0] if left else None,
        context=step.context,
        prompt_length=step.prompt_length,
        draft_tokens=drafted,
        options=options,
    )


def proposed(step: TraceStep) -> tuple[int, ...]:
    """The sampled ids, dropped ones included."""
    return step.drafted if step.proposed is None else step.proposed


def has_whole_rows(step: TraceStep) -> bool:
    """Whether every row of the step that a test or a draw reads is at hand, and known in whole."""
    rows = step.target_rows + step.draft_rows
    enough = len(step.draft_rows) >= len(step.drafted) and len(step.target_rows) > step.n_accepted
    return enough and not any(isinstance(row.values, ListedValues) for row in rows)


@dataclass(frozen=True)
class RowLaw:
    """A processed row. ``blurred``: a cut lies so near its threshold that the engine may have made
    it on the other side; ``unsure``: rounding of the weights leaves a step open."""

    law: Law
    blurred: bool = False
    unsure: bool = False

    @cached_property
    def total(self) -> Fraction:
        """Sum of the weights."""
        if not isinstance(self.law, FloatLaw):
            return Fraction(1)
        from specdist.exact.float_sum import exact_sum

        return exact_sum(self.law.weights)

    def probability(self, token: int) -> Fraction:
        """Of a token, for the weights as represented."""
        law = self.law
        if not isinstance(law, FloatLaw):
            return law.values[token] if 0 <= token < law.size else _ZERO
        entry = token
        if law.ids is not None:
            entry = int(law.ids.searchsorted(token))
            if entry >= len(law.ids) or law.ids[entry] != token:
                return _ZERO
        elif not 0 <= token < law.size:
            return _ZERO
        weight = law.dense[entry] if law.dense is not None else _coded(law, entry)
        return Fraction(float(weight)) / self.total

    @property
    def relative_error(self) -> Fraction:
        """Bound of the relative error of a probability against the real-valued softmax."""
        bound = self.law.bound
        return 2 * bound / (1 - bound) if bound < Fraction(1, 100) else Fraction(2)

    def floats(self) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
        """Possible tokens, rising, and their probabilities in float64."""
        import numpy as np

        law = self.law
        if isinstance(law, FloatLaw):
            ids = np.arange(law.size) if law.ids is None else law.ids
            return ids, law.weights / float(self.total)
        kept = [token for token, value in enumerate(law.values) if value]
        return np.array(kept, dtype=np.intp), np.array([float(law.values[x]) for x in kept])

    def dense(self) -> NDArray[np.float64]:
        """Probabilities of all tokens in float64."""
        import numpy as np

        values = np.zeros(self.law.size)
        ids, shares = self.floats()
        values[ids] = shares
        return values


def _coded(law: FloatLaw, entry: int) -> float:
    if law.codes is None or law.table is None:
        raise ValueError("a float law needs dense weights, or codes with their table")
    return float(law.table[law.codes[entry]])


class RecordedRows:
    """Laws of the rows of one step by side, number and recipe.

    A row keeps the history of its own position, whatever role reads it. Rows before the first read
    as the first, rows beyond the last as the last. ``ties_open``: which of several equal values a
    cut keeps is the engine's choice, and not known.
    """

    def __init__(
        self, step: TraceStep, plan: Plan, settings: CheckSettings, ties_open: bool = True
    ) -> None:
        self.step = step
        self._ties_open = ties_open
        self._plan, self._settings = plan, settings
        self._whole = recorded_step(step, ProcessingOptions())
        self._laws: dict[tuple[int, Recipe], RowLaw] = {}

    def rows(self, side: str) -> tuple[Row, ...]:
        """All rows of one side."""
        return self.step.target_rows if side == "target" else self.step.draft_rows

    def law(self, side: str, number: int, recipe: Recipe) -> RowLaw:
        """The law that ``recipe`` makes of a row. Raises SpecdistError with the place of the row,
        IndexError where the side has no row."""
        rows = self.rows(side)
        index = min(max(number, 0), len(rows) - 1)
        row = rows[index]
        if isinstance(row.values, PointMass):
            recipe = Recipe()
        key = (id(row), recipe)
        if key not in self._laws:
            try:
                made = apply_recipe(recipe, row, self._context(index))
            except SpecdistError as error:
                raise error.at(row.place) from None
            said = {remark.ident for remark in made.remarks}
            unsure = "undecided-precision" in said
            tied = self._ties_open and _cuts_a_tie(row, made.law)
            self._laws[key] = RowLaw(made.law, unsure or tied or "near-cut" in said, unsure)
        return self._laws[key]

    def _context(self, index: int) -> RowContext:
        positions = self._whole.positions
        position = positions[index] if index < len(positions) else None
        context = row_context(self._whole, position, index, self._plan, self._settings)
        return replace(context, target_size=self.step.target_rows[0].size)


def _cuts_a_tie(row: Row, law: Law) -> bool:
    """Whether the smallest value that was kept is also that of a token that was not."""
    if law.support == row.size or law.size != row.size:
        return False
    if isinstance(row.values, FloatValues) and isinstance(law, FloatLaw) and law.ids is not None:
        import numpy as np

        array = LogScores(row.values.array, 0.0, Fraction(1)).block(slice(None))
        kept = np.zeros(len(array), dtype=np.bool_)
        kept[law.ids[law.weights > 0]] = True
        return bool((array[~kept] == array[kept].min()).any())
    if isinstance(row.values, RationalValues) and isinstance(law, RationalLaw):
        pairs = list(zip(row.values.values, law.values, strict=True))
        kept_values = [value for value, share in pairs if share and value is not None]
        return any(value == min(kept_values) for value, share in pairs if not share)
    return False
