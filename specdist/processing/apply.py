"""Applies a recipe to a captured row."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from math import isfinite

from specdist.errors import RowError, SettingsError
from specdist.exact.law import RationalLaw
from specdist.model.recipe import Recipe, RecipeStep
from specdist.model.row import (
    FloatValues,
    Kind,
    ListedValues,
    NumberFormat,
    PointMass,
    RationalValues,
    Row,
    Stage,
)
from specdist.processing.context import Processed, RowContext
from specdist.processing.lazy_allowed import LAZY_ALLOWED
from specdist.processing.processor import Processor
from specdist.processing.rational_row import RationalRow
from specdist.processing.registry import processor_named
from specdist.processing.row_sum import PRECISION, Sums
from specdist.processing.temperature import effective_temperature
from specdist.processing.working_row import WorkingRow

_RATIONAL_POINT_MASS = 1_024
"""Above this size a point mass is kept sparse instead of as one fraction per token."""

_RATIONAL_POWERS = 8_192
"""Up to this size a dumped probability row becomes fractions where its powers need them; larger
rows take float64 weights with their bound."""


def apply_recipe(recipe: Recipe, row: Row, context: RowContext) -> Processed:
    """The distribution that ``recipe`` makes of ``row``, with the remarks of its steps.

    Raises `RowError` where the row holds no distribution or a step would empty it, and
    `SettingsError` for steps that do not fit the row: an id outside the vocabulary, a history
    that is missing, a step that the row's stage says was applied already.
    """
    if recipe.one_hot:
        return Processed(point_mass(row, context))
    working = _working_row(row, recipe, _sums(context))
    steps, lazy = without_lazy(recipe, row.place)
    made = _chained(working, steps, row, context)
    if lazy is not None:
        made = _redrawn(working, made, steps, lazy, row, context)
    try:
        return Processed(made.law(), made.remarks)
    except OverflowError:
        raise beyond_float64("", row.place) from None


def _chained(
    working: WorkingRow, steps: Sequence[RecipeStep], row: Row, context: RowContext
) -> WorkingRow:
    for step in steps:
        processor = processor_named(step.name)
        if processor.is_neutral(step):
            continue
        refuse_repetition(processor, step, row)
        working = applied(processor, step, working, context, row.place)
    return working


def without_lazy(recipe: Recipe, place: str) -> tuple[Sequence[RecipeStep], RecipeStep | None]:
    """The chain, and the lazy grammar behind it, which concerns the whole of it."""
    name = LAZY_ALLOWED.name
    if any(step.name == name for step in recipe.steps[:-1]):
        raise SettingsError(
            f"{name} is followed by another step",
            place=place,
            expected=f"{name} as the last step: it redraws from the whole chain",
        )
    if recipe.steps and recipe.steps[-1].name == name:
        return recipe.steps[:-1], recipe.steps[-1]
    return recipe.steps, None


def _redrawn(
    working: WorkingRow,
    free: WorkingRow,
    steps: Sequence[RecipeStep],
    lazy: RecipeStep,
    row: Row,
    context: RowContext,
) -> WorkingRow:
    """A draw from the ``free`` chain, repeated with the mask first where it is not allowed."""
    refuse_repetition(LAZY_ALLOWED, lazy, row)
    if free.size != working.size:
        raise SettingsError(
            f"{lazy.name} behind a step that changes the vocabulary",
            place=row.place,
            expected="a chain without vocab-map, vocab-size and retokenise",
        )
    masked = applied(LAZY_ALLOWED, lazy, working, context, row.place)
    return free.mixed(_chained(masked, steps, row, context), lazy.ids())


def _sums(context: RowContext) -> Sums:
    if context.normalise and context.unnormalised:
        raise SettingsError(
            "normalise and unnormalised are given together",
            expected="rows divided by their sum, or rows with the sum they have",
        )
    if context.unnormalised:
        return Sums.OWN
    return Sums.RESCALED if context.normalise else Sums.STRICT


def _working_row(row: Row, recipe: Recipe, sums: Sums) -> WorkingRow:
    values = row.values
    if isinstance(values, ListedValues):
        raise RowError(
            f"the row lists {len(values.ids)} tokens only, or with rounding",
            place=row.place,
            expected="a row of the whole vocabulary here",
            advice="capture every token, or the processed row with all that it leaves",
        )
    if isinstance(values, FloatValues):
        if row.size <= _RATIONAL_POWERS and _has_long_powers(row, recipe):
            exact = _as_rational(row)
            if exact is not None:
                return RationalRow.of(exact, sums)
    elif not isinstance(values, PointMass) or row.size <= _RATIONAL_POINT_MASS:
        return RationalRow.of(row, sums)
    if sums is not Sums.STRICT and isinstance(values, FloatValues):
        _refuse_huge(row, values)
    from specdist.processing.float_row import FloatRow

    return FloatRow.of(row, sums)


def _refuse_huge(row: Row, values: FloatValues) -> None:
    """Sums of larger values, and their quotients, leave the range of float64."""
    if row.kind is Kind.PROBABILITIES and row.numbers is NumberFormat.FLOAT64:
        largest = float(values.array.max(initial=0))
        if largest >= 2.0**960:
            raise RowError(
                f"a probability of {largest:.6g} is too large to be normalised",
                place=row.place,
                expected="values below 2^960 = 9.7e288",
            )


def _has_long_powers(row: Row, recipe: Recipe) -> bool:
    """Whether a temperature 1/n takes powers of probabilities that float64 does not hold."""
    if row.kind is not Kind.PROBABILITIES:
        return False
    power = Fraction(1)
    for step in recipe.steps:
        if step.name == "temperature" and (value := effective_temperature(step)).numerator == 1:
            power /= value
    return power > 1 and power * PRECISION[row.numbers] > PRECISION[NumberFormat.FLOAT64]


def _as_rational(row: Row) -> Row | None:
    """The row as fractions; None for one that is not finite, which the float row refuses."""
    from specdist.processing.float_weights import float64_values

    numbers = float64_values(row).tolist()
    if not all(map(isfinite, numbers)):
        return None
    return replace(row, values=RationalValues(tuple(map(Fraction, numbers))))


def applied(
    processor: Processor, step: RecipeStep, row: WorkingRow, context: RowContext, place: str
) -> WorkingRow:
    """The row after one step; what is wrong names the step and the place."""
    try:
        return processor.apply(row, step, context)
    except RowError as error:
        raise RowError(
            f"step {step.text[:40]!r}: {error.message}",
            place=error.place or place,
            expected=error.expected,
            advice=error.advice,
        ) from None
    except OverflowError:
        raise beyond_float64(f"step {step.text[:40]!r}: ", place) from None
    except SettingsError as error:
        raise error.at(place) from None


def beyond_float64(step: str, place: str) -> RowError:
    """The complaint about a number that float64 does not hold."""
    return RowError(
        f"{step}a number leaves the range of float64",
        place=place,
        expected="logits and options whose products stay below 1e308",
    )


def refuse_repetition(processor: Processor, step: RecipeStep, row: Row) -> None:
    """Refuses a step that the row has been through already, as its stage says."""
    if processor.any_stage or isinstance(row.values, PointMass) or row.stage is Stage.RAW:
        return
    if row.stage is Stage.TEMPERATURE and step.name != "temperature":
        return
    raise SettingsError(
        f"step {step.text[:40]!r} on a row of stage '{row.stage.value}' would apply it again",
        place=row.place,
        expected="rows of stage 'raw', or recipes and roles without this step",
        advice="capture raw rows (--stage raw), or give the role a row of its own in a JSON "
        "capture; --recipe raw takes both sides as they are",
    )


def point_mass(row: Row, context: RowContext) -> RationalLaw:
    """All mass on the drafted token. Raises SettingsError where none is known."""
    token = context.drafted_token
    if token is None or not 0 <= token < row.size:
        raise SettingsError(
            "one-hot needs the drafted token, and none is known here",
            place=row.place,
            expected="a capture with draft_tokens",
        )
    return RationalLaw(tuple(Fraction(int(x == token)) for x in range(row.size)))
