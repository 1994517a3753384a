"""Rows and contexts for the processing tests."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from specdist.exact.law import RationalLaw
from specdist.model.row import Kind, NumberFormat, RationalValues, Row, Stage
from specdist.processing import Remark, RowContext, TokenHistory, apply_recipe, parse_recipe

Number = Fraction | int | str
F = Fraction
PLACE = "cap.json, steps[0].positions[0].target"


def made_row(
    values: Sequence[Number | None],
    kind: str,
    *,
    numbers: str = "decimal",
    stage: str = "raw",
) -> Row:
    exact = tuple(None if value is None else Fraction(value) for value in values)
    return Row(RationalValues(exact), Kind(kind), Stage(stage), NumberFormat(numbers), PLACE)


def probability_row(values: Sequence[Number]) -> Row:
    return made_row(values, "probabilities")


def logits_row(values: Sequence[Number | None]) -> Row:
    return made_row(values, "logits")


def context(
    tokens: tuple[int, ...], prompt_length: int | None = None, drafted: tuple[int, ...] = ()
) -> RowContext:
    return RowContext(history=TokenHistory(tokens, prompt_length, drafted))


def law(recipe: str, row: Row, given: RowContext | None = None) -> RationalLaw:
    made = apply_recipe(parse_recipe(recipe), row, given or RowContext()).law
    if not isinstance(made, RationalLaw):
        raise TypeError("a rational row makes a rational law")
    return made


def remarks(recipe: str, row: Row, given: RowContext | None = None) -> tuple[Remark, ...]:
    return apply_recipe(parse_recipe(recipe), row, given or RowContext()).remarks
