"""Rows of a real vocabulary's size of which only a part is known."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from specdist.exact.law import FloatLaw
from specdist.exact.partial_law import PartialLaw
from specdist.model.row import FloatValues, Kind, ListedValues, NumberFormat, Row, Stage
from specdist.processing import RowContext, apply_recipe, parse_recipe
from specdist.processing.partial_row import PartialProcessed, apply_partial
from tests.truncated_rows import PLACE

F = Fraction
NOTHING = RowContext()


def made(recipe: str, given: Row) -> PartialProcessed:
    return apply_partial(parse_recipe(recipe), given, NOTHING)


SIZE = 151_936


def logprobs() -> np.ndarray[Any, np.dtype[np.float64]]:
    logits = np.random.default_rng(5).normal(0, 3, SIZE)
    single = (logits - np.log(np.exp(logits).sum())).astype(np.float32)
    return single.astype(np.float64)


def big_row(ids: Any, values: Any, **known: Any) -> Row:
    listed = ListedValues(ids, FloatValues(values), SIZE, **known)
    return Row(listed, Kind.LOGPROBS, Stage.RAW, NumberFormat.FLOAT32, PLACE)


def test_twenty_of_a_real_vocabulary_give_the_law_of_the_whole_row() -> None:
    numbers = logprobs()
    ids = np.sort(np.argsort(-numbers)[:20])
    listed = big_row(ids, numbers[ids], cap=F(float(numbers[ids].min())), slack=F(1, 2**18))
    whole = Row(FloatValues(numbers.astype(np.float32)), Kind.LOGPROBS, Stage.RAW,
                NumberFormat.FLOAT32, PLACE)  # fmt: skip
    for recipe in ("temperature:7/10,top-k:10,top-p:0.9", "min-p:1/5,temperature:3/2",
                   "top-k:19", "top-p:1/20", "temperature:0"):  # fmt: skip
        found = made(recipe, listed).law
        expected = apply_recipe(parse_recipe(recipe), whole, NOTHING).law
        assert isinstance(found, FloatLaw)
        assert isinstance(expected, FloatLaw)
        assert found.size == SIZE
        assert found.ids is not None
        assert expected.ids is not None
        assert np.array_equal(found.ids, expected.ids)
        quotients = found.weights / found.weights.max()
        assert np.array_equal(quotients, expected.weights / expected.weights.max())
    assert isinstance(made("top-k:20", listed).law, PartialLaw)


@pytest.mark.parametrize("recipe", ["raw", "temperature:7/10", "temperature:3/2", "min-p:1/20"])
@pytest.mark.parametrize("cut", [True, False])
def test_codes_of_a_whole_row_bound_its_law(recipe: str, cut: bool) -> None:
    """Sixteen-bit codes as llama.cpp stores them, all or only those above the cut."""
    numbers = logprobs()
    floor = max(float(numbers.min()), float(numbers.max()) - (10 if cut else 100))
    step = (float(numbers.max()) - floor) / 65_535
    codes = np.rint((np.maximum(numbers, floor) - floor) / step)
    ids = np.flatnonzero(codes) if cut else np.arange(SIZE)
    half = F(step) * F(51, 100)
    cap = F(floor) + half if cut else None
    listed = big_row(ids, codes[ids] * step + floor, cap=cap, half_width=half, slack=F(1, 2**18))
    found = made(recipe, listed).law
    assert isinstance(found, PartialLaw)
    temperature = {"temperature:7/10": 0.7, "temperature:3/2": 1.5}.get(recipe, 1.0)
    weights = np.exp(numbers / temperature)
    if recipe.startswith("min-p"):
        weights[weights < weights.max() / 20] = 0
        assert found.others == 0
    law = weights / weights.sum()
    unlisted = np.delete(law, found.ids)
    low, high = np.asarray(found.low), np.asarray(found.high)
    least = max(float(found.scale.least), float((law[found.ids] / high).max()))
    most = min(float(found.scale.most), float((law[found.ids] / np.maximum(low, 1e-300)).min()))
    assert least <= most * (1 + 1e-12)
    wide = 1.3 if cut and recipe.startswith("temperature:3") else 1.01  # the tail is not listed
    assert float(found.scale.most) / float(found.scale.least) < wide
    if found.others:
        assert unlisted.max() <= float(found.cap or 0) * most * (1 + 1e-12)
    else:
        assert unlisted.max(initial=0) == 0
