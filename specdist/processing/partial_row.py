"""Applies a recipe to a row of which only a part is known.

A `ListedValues` row stands for every complete row that agrees with it. `apply_partial` gives the
one distribution that the recipe makes of all of them, where the listed tokens prove it, and
otherwise a `PartialLaw` that holds for each: no part is renormalised, no mass is invented.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, replace

from specdist.errors import SettingsError
from specdist.exact.law import Law
from specdist.exact.partial_law import PartialLaw
from specdist.model.recipe import Recipe, RecipeStep
from specdist.model.row import FloatValues, Kind, ListedValues, Row
from specdist.processing.apply import (
    applied,
    apply_recipe,
    beyond_float64,
    point_mass,
    refuse_repetition,
    without_lazy,
)
from specdist.processing.context import RowContext
from specdist.processing.lazy_allowed import LAZY_ALLOWED
from specdist.processing.partial_reading import read_partial
from specdist.processing.partial_vocabulary import of_size
from specdist.processing.partial_working_row import PartialRow
from specdist.processing.registry import processor_named
from specdist.processing.vocab_map import VOCAB_MAP, targets_of
from specdist.processing.working_row import Remark, WorkingRow


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
    values = row.values
    if not isinstance(values, ListedValues):
        raise TypeError("a row that is known in part is needed")
    origin = _origin(recipe, row, context)
    size = _size(recipe, row, values, context)
    if recipe.one_hot:
        law = point_mass(replace(row, values=replace(values, size=size)), context)
        return PartialProcessed(law, (), origin, law.size, values.open_ended)
    read = read_partial(row, size)
    if isinstance(read, Row):
        return _complete(recipe, read, values, context, origin)
    if context.unnormalised:
        raise SettingsError(
            "unnormalised needs the sum of the row, and not all of its tokens are listed",
            place=row.place,
            expected="complete rows with --unnormalised",
        )
    steps, lazy = without_lazy(recipe, row.place)
    start = _finished(read)
    made = _chained(start, steps, row, context)
    if lazy is not None:
        made = _redrawn(start, made, steps, lazy, row, context)
    try:
        if isinstance(made, PartialRow):
            known = made.partial_law(), made.remarks + _unbounded(made)
            return PartialProcessed(*known, origin, made.size, made.unlisted.open_ended)
        return PartialProcessed(made.law(), made.remarks, origin, made.size, values.open_ended)
    except OverflowError:
        raise beyond_float64("", row.place) from None


def _unbounded(row: PartialRow) -> tuple[Remark, ...]:
    """The remark about a row whose unlisted tokens may have any share."""
    if row.sum_within_boxes().most is not None:
        return ()
    missing = "how many they are is not known: --vocab-size N says it"
    if row.unlisted.number is not None:
        missing = "no cap bounds their logits: list more tokens, or log-probabilities"
    message = f"tokens that are not listed may have any share of the law; {missing}"
    return (Remark("truncated-row", message),)


def _complete(
    recipe: Recipe, row: Row, values: ListedValues, context: RowContext, origin: Hashable
) -> PartialProcessed:
    """Every possible token is listed: the row is an ordinary one. A sum that the slack explains is
    divided by, whatever the rounding of the format alone would explain."""
    explained = bool(values.slack) and row.kind is Kind.PROBABILITIES and not context.unnormalised
    if explained:
        context = replace(context, normalise=True)
    made = apply_recipe(recipe, row, context)
    remarks = made.remarks
    if explained:
        text = "the listed probabilities sum to 1 within the slack of the capture"
        remarks = tuple(
            replace(remark, message=f"{text}; read as weights over their exact sum")
            if remark.ident == "row-not-normalised" and "--normalise" in remark.message
            else remark
            for remark in remarks
        )
    return PartialProcessed(made.law, remarks, origin, made.law.size, values.open_ended)


def _chained(
    working: WorkingRow, steps: Sequence[RecipeStep], row: Row, context: RowContext
) -> WorkingRow:
    """The row after the steps; an ordinary one from where every possible token is listed."""
    for step in steps:
        processor = processor_named(step.name)
        if processor.is_neutral(step):
            continue
        refuse_repetition(processor, step, row)
        if isinstance(working, PartialRow) and processor is VOCAB_MAP:
            working = of_size(working, len(targets_of(step, context)))
        working = _finished(applied(processor, step, working, context, row.place))
    return working


def _finished(working: WorkingRow) -> WorkingRow:
    if isinstance(working, PartialRow):
        return working.finished or working
    return working


def _redrawn(
    working: WorkingRow,
    free: WorkingRow,
    steps: Sequence[RecipeStep],
    lazy: RecipeStep,
    row: Row,
    context: RowContext,
) -> WorkingRow:
    """See `apply.apply_recipe`: both chains have to end in ordinary rows."""
    refuse_repetition(LAZY_ALLOWED, lazy, row)
    masked = _finished(applied(LAZY_ALLOWED, lazy, working, context, row.place))
    again = _chained(masked, steps, row, context)
    for made in (free, again):
        if isinstance(made, PartialRow):
            made.mixed(made, ())
    if free.size != working.size:
        raise SettingsError(
            f"{lazy.name} behind a step that changes the vocabulary",
            place=row.place,
            expected="a chain without vocab-map, vocab-size and retokenise",
        )
    return free.mixed(again, lazy.ids())


def _size(recipe: Recipe, row: Row, values: ListedValues, context: RowContext) -> int:
    """The vocabulary size; of an open-ended one the smallest that has every id that is named."""
    if not values.open_ended:
        return row.size
    named = [row.size - 1, *_named_ids(recipe)]
    if recipe.one_hot and context.drafted_token is not None:
        named.append(context.drafted_token)
    if context.history is not None:
        named += [*context.history.tokens, *(context.history.drafted or ())]
    return max(named) + 1


def _named_ids(recipe: Recipe) -> Iterator[int]:
    """Token ids in the arguments of the steps that see the captured vocabulary."""
    for step in recipe.steps:
        if step.name == VOCAB_MAP.name:
            return
        for _, argument in step.arguments:
            if isinstance(argument, tuple):
                for entry in argument:
                    yield entry if isinstance(entry, int) else entry[0]


def _origin(recipe: Recipe, row: Row, context: RowContext) -> Hashable:
    """The captured row, whose unlisted tokens are what they are, and the steps."""
    values = row.values
    if not isinstance(values, ListedValues):
        raise TypeError("a row that is known in part is needed")
    steps = tuple(
        step.text for step in recipe.steps if not processor_named(step.name).is_neutral(step)
    )
    ids, numbers = values.ids, values.values
    if not isinstance(numbers, FloatValues):
        known: Hashable = (tuple(map(int, ids)), numbers)
    else:
        import numpy as np

        from specdist.processing.float_reading import Numbers

        known = (Numbers(np.asarray(ids, dtype=np.intp)), Numbers(numbers.array))
    known = (row.place, row.kind, row.stage, known, values.support)
    return (known, recipe.one_hot, steps, context.history, context.drafted_token)
