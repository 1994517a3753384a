"""A processed row of a recorded step, with what rounding leaves open of its probabilities.

The recording engine computed in its own arithmetic, of unit u (2^-53, or 2^-24 in float32). A
probability of its softmax over V tokens is off by at most ``(2 ceil(log2 V) + 16 + 8 d) u``: sum,
exponential, quotient (`processing.row_sum`), and ``d``, the largest ``|z / T|``, for the division
by the temperature and the difference to the maximum. A cumulative sum over n kept tokens, and their
renormalisation, add n units each. What lies within these bounds is not decided.

A cut that the engine's rounding may put on the other side makes several laws: the threshold is
moved up and down by far more than that rounding, and every law that appears counts as possible.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import product
from typing import TYPE_CHECKING

from specdist.errors import SpecdistError
from specdist.exact.interval import Interval
from specdist.exact.law import FloatLaw, Law
from specdist.exact.partial_law import PartialLaw
from specdist.model.recipe import Recipe, RecipeStep
from specdist.model.row import FloatValues, ListedValues, NumberFormat, RationalValues, Row
from specdist.processing import Processed, RowContext, apply_recipe, processor_named
from specdist.processing.partial_row import apply_partial
from specdist.processing.row_sum import PRECISION, softmax_units

if TYPE_CHECKING:
    from specdist.exact.law_bounds import LawBounds

_ZERO, _ONE = Fraction(0), Fraction(1)
_FAR = 64
"""By how many units, beside those of the sums, a threshold is moved."""
_MOST_CUTS = 3


@dataclass(frozen=True, eq=False)
class KnownLaw:
    """``law``, each of its probabilities within the relative ``slack``; in cumulative sums within
    ``slack + sum_slack``."""

    law: Law | PartialLaw
    size: int
    slack: Fraction = _ZERO
    sum_slack: Fraction = _ZERO

    def probability(self, token: int) -> Interval:
        """What the engine may have taken for ``p(token)``."""
        law = self.law
        if isinstance(law, PartialLaw):
            return self.bounds.probability(token)
        value = _probability(law, token, self._total)
        if not value or (not law.bound and not self.slack):
            return Interval.of(value)
        bound = min(law.bound, Fraction(1, 4))
        wide = self.slack + 2 * bound / (1 - bound)
        return Interval(value * max(1 - wide, _ZERO), min(value * (1 + wide), _ONE))

    @cached_property
    def bounds(self) -> LawBounds:
        """The law for draws."""
        from specdist.exact.law_bounds import LawBounds

        slack = self.slack + self.sum_slack
        if isinstance(self.law, PartialLaw):
            return LawBounds.of_partial(self.law, self.size, slack)
        return LawBounds.of(self.law, slack)

    @cached_property
    def _total(self) -> Fraction:
        if not isinstance(self.law, FloatLaw):
            return _ONE
        from specdist.exact.float_sum import exact_sum

        return exact_sum(self.law.weights)


def _probability(law: Law, token: int, total: Fraction) -> Fraction:
    if not isinstance(law, FloatLaw):
        return law.values[token] if 0 <= token < law.size else _ZERO
    entry = token
    if law.ids is not None:
        entry = int(law.ids.searchsorted(token))
        if entry >= len(law.ids) or law.ids[entry] != token:
            return _ZERO
    return Fraction(float(law.weights[entry])) / total


def known_laws(
    row: Row, recipe: Recipe, context: RowContext, arithmetic: NumberFormat
) -> tuple[KnownLaw, ...]:
    """The laws that ``recipe`` may have made of ``row`` in the engine's arithmetic; none where it
    cannot be told. Raises SpecdistError with the place of the row."""
    try:
        if isinstance(row.values, ListedValues):
            return _of_part(row, recipe, context, arithmetic)
        first = apply_recipe(recipe, row, context)
        laws = [first.law, *_other_sides(first, row, recipe, context, arithmetic)]
    except _UndecidedCutError:
        return ()
    except SpecdistError as error:
        raise error.at(row.place) from None
    return tuple(_known(law, row, recipe, arithmetic) for law in _distinct(laws))


def _of_part(
    row: Row, recipe: Recipe, context: RowContext, arithmetic: NumberFormat
) -> tuple[KnownLaw, ...]:
    made = apply_partial(recipe, row, context)
    if isinstance(made.law, PartialLaw) and made.law.others != 0:
        return ()
    units = softmax_units(made.size) + 512 + 2 * made.size
    return (KnownLaw(made.law, made.size, units * unit_of(arithmetic)),)


def unit_of(arithmetic: NumberFormat) -> Fraction:
    """Half a unit in the last place of a number from 1/2 to 1."""
    return Fraction(1, 2 ** PRECISION[arithmetic])


def _known(law: Law, row: Row, recipe: Recipe, arithmetic: NumberFormat) -> KnownLaw:
    unit = unit_of(arithmetic)
    if not law.bound and not isinstance(law, FloatLaw) and _is_short(law.values, arithmetic):
        return KnownLaw(law, law.size)
    from specdist.exact.law_bounds import LawBounds

    plain = arithmetic is NumberFormat.FLOAT64 and not recipe.steps
    if plain and not law.bound and LawBounds.of(law).exact:
        return KnownLaw(law, law.size)
    depth = _depth(row, recipe)
    slack = (softmax_units(law.size) + 8 * depth) * unit
    kept = law.support * unit
    return KnownLaw(law, law.size, slack + (kept if law.support < law.size else _ZERO), kept)


def _is_short(values: tuple[Fraction, ...], arithmetic: NumberFormat) -> bool:
    """Whether every probability is a multiple of the unit: nothing in a sum of them rounds."""
    unit = unit_of(arithmetic)
    return all((value / unit).denominator == 1 for value in values)


def _depth(row: Row, recipe: Recipe) -> int:
    """A bound on ``|z / T|``."""
    temperature = _ONE
    for step in recipe.steps:
        if step.name == "temperature" and step.number():
            temperature *= step.number()
    return int(min(_largest(row) / min(temperature, _ONE), Fraction(10**6))) + 1


def _largest(row: Row) -> Fraction:
    values = row.values
    if isinstance(values, RationalValues):
        return max((abs(value) for value in values.values if value is not None), default=_ZERO)
    if not isinstance(values, FloatValues):
        return _ZERO
    import numpy as np

    from specdist.processing.float_weights import float64_values

    numbers = float64_values(row)
    return Fraction(float(np.abs(numbers[np.isfinite(numbers)]).max(initial=0.0)))


class _UndecidedCutError(Exception):
    """A cut that moving its threshold does not decide."""


def _other_sides(
    first: Processed, row: Row, recipe: Recipe, context: RowContext, arithmetic: NumberFormat
) -> list[Law]:
    """The laws on the other sides of close cuts."""
    names = {
        remark.step or remark.message.partition(":")[0]
        for remark in first.remarks
        if remark.ident in ("near-cut", "undecided-precision")
    }
    if arithmetic is not NumberFormat.FLOAT64:
        names |= {step.name for step in recipe.steps if _has_threshold(step)}
    steps = [step for step in recipe.steps if step.name in names]
    if not steps:
        return []
    if len(steps) > _MOST_CUTS or not all(map(_has_threshold, steps)):
        raise _UndecidedCutError
    unit = unit_of(arithmetic)
    far = (softmax_units(row.size) + _FAR) * unit
    if arithmetic is NumberFormat.FLOAT64:
        far += row.size * unit
    laws = []
    for signs in product((1, -1), repeat=len(steps)):
        factors = {step: 1 + sign * far for step, sign in zip(steps, signs, strict=True)}
        made = apply_recipe(_moved(recipe, factors), row, context)
        if any(remark.ident == "undecided-precision" for remark in made.remarks):
            raise _UndecidedCutError
        laws.append(made.law)
    return laws


def _has_threshold(step: RecipeStep) -> bool:
    """Whether the step cuts at a number that is no count and no temperature."""
    if step.name in ("temperature", "top-k", "vocab-size"):
        return False
    if processor_named(step.name).is_neutral(step):
        return False
    return any(key == "value" and isinstance(value, Fraction) for key, value in step.arguments)


def _moved(recipe: Recipe, factors: dict[RecipeStep, Fraction]) -> Recipe:
    steps = []
    for step in recipe.steps:
        factor = factors.get(step, _ONE)
        others = tuple(pair for pair in step.arguments if pair[0] != "value")
        moved = RecipeStep(step.name, (("value", step.number() * factor), *others), step.text)
        steps.append(step if factor == 1 else moved)
    return Recipe(tuple(steps), recipe.one_hot)


def _distinct(laws: list[Law]) -> list[Law]:
    """The laws that keep different tokens."""
    found: dict[object, Law] = {}
    for law in laws:
        kept: object
        if isinstance(law, FloatLaw):
            kept = None if law.ids is None else law.ids.tobytes()
        else:
            kept = tuple(token for token, value in enumerate(law.values) if value)
        found.setdefault(kept, law)
    return list(found.values())
