"""The two kinds of row are twins: the same numbers and steps keep the same tokens."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from specdist.errors import RowError
from specdist.exact.law import FloatLaw
from specdist.model.row import FloatValues, Kind, NumberFormat, Row, Stage
from specdist.processing import Processed, Remark, RowContext, apply_recipe, parse_recipe
from tests.processing_rows import PLACE, logits_row, probability_row

PARTS = 64
Twins = tuple[Processed, Processed]


def twins(recipe: str, values: list[Fraction | None], kind: str, numbers: str) -> Twins:
    """The recipe on a rational row and on the float row of the same numbers."""
    array = np.array([-np.inf if value is None else float(value) for value in values])
    stored = array.astype({"float16": np.float16, "float32": np.float32}.get(numbers, np.float64))
    float_row = Row(FloatValues(stored), Kind(kind), Stage.RAW, NumberFormat(numbers), PLACE)
    rational = (
        logits_row(values)
        if kind == "logits"
        else probability_row([value for value in values if value is not None])
    )
    parsed = parse_recipe(recipe)
    return (
        apply_recipe(parsed, rational, RowContext()),
        apply_recipe(parsed, float_row, RowContext()),
    )


def float_probabilities(law: object) -> list[Fraction]:
    if not isinstance(law, FloatLaw):
        raise TypeError("a float row makes a float law")
    weights = [Fraction(0)] * law.size
    ids = range(law.size) if law.ids is None else law.ids.tolist()
    for token, weight in zip(ids, law.weights.tolist(), strict=True):
        weights[token] = Fraction(weight)
    total = sum(weights, Fraction(0))
    return [weight / total for weight in weights]


@st.composite
def steps(draw: st.DrawFn, size: int) -> str:
    share = Fraction(draw(st.integers(1, PARTS - 1)), PARTS)
    ids = "+".join(map(str, draw(st.lists(st.integers(0, size - 1), min_size=1, max_size=3))))
    ties = draw(st.sampled_from(["lowest-id", "highest-id", "all"]))
    boundary = draw(st.sampled_from(["reach", "exceed"]))
    return draw(
        st.sampled_from(
            [
                f"top-k:{draw(st.integers(1, 9))}:ties={'all' if ties == 'all' else 'lowest-id'}",
                f"top-p:{share}:boundary={boundary}:ties={ties}",
                f"min-p:{share}:equal={draw(st.sampled_from(['keep', 'drop']))}",
                f"epsilon:{share}",
                f"eta:{share}",
                f"typical-p:{share}:boundary={boundary}",
                f"allowed:0+1+2+{ids}",
            ]
        )
    )


def assert_close(left: list[Fraction], right: list[Fraction], bound: Fraction) -> None:
    """The same tokens, and probabilities that the bounds of their weights explain (0: equal)."""
    assert [bool(value) for value in left] == [bool(value) for value in right]
    for one, other in zip(left, right, strict=True):
        assert abs(one - other) <= 3 * bound * other


def said(remarks: tuple[Remark, ...]) -> list[tuple[str, str]]:
    return [(remark.ident, remark.message.split(":")[0]) for remark in remarks]


@given(st.lists(st.integers(0, 9), min_size=3, max_size=9), st.data())
def test_filters_on_probabilities(parts: list[int], data: st.DataObject) -> None:
    parts = [min(part, PARTS // len(parts)) for part in parts]
    parts[0] += PARTS - sum(parts)
    row: list[Fraction | None] = [Fraction(part, PARTS) for part in parts]
    recipe = data.draw(steps(len(parts)))
    numbers = data.draw(st.sampled_from(["float16", "float32", "float64"]))
    rational, floating = twins(recipe, row, "probabilities", numbers)
    made = list(rational.law.values)  # type: ignore[union-attr]
    undecided = [ident for ident, _ in said(floating.remarks) if ident == "undecided-precision"]
    if undecided:
        return
    probabilities = float_probabilities(floating.law)
    if not recipe.startswith(("eta", "typical-p")):  # those two go through logarithms
        assert floating.law.bound == 0
    assert_close(probabilities, made, floating.law.bound)
    assert said(floating.remarks) == said(rational.remarks)


_logit = st.none() | st.integers(-64, 64).map(lambda n: Fraction(n, 8))


@given(st.lists(_logit, min_size=2, max_size=9), st.data())
def test_chains_on_logits(values: list[Fraction | None], data: st.DataObject) -> None:
    values = [Fraction(1), *values]
    temperature = data.draw(st.sampled_from(["1", "1/2", "4/5", "2"]))
    before = data.draw(
        st.sampled_from(
            ["logit-bias:0=-1/8", "repetition-penalty:2:history=0+1", "top-n-sigma:1", "raw",
             "frequency-penalty:1/4:history=0+0+2", "presence-penalty:1/4:history=1"]
        )
    )  # fmt: skip
    recipe = ",".join(
        part
        for part in (before, f"temperature:{temperature}", data.draw(steps(len(values))))
        if part != "raw"
    )
    numbers = data.draw(st.sampled_from(["float16", "float32", "float64"]))
    try:
        rational, floating = twins(recipe, values, "logits", numbers)
    except RowError:
        assert "min-p:" in recipe
        return
    undecided = {
        ident
        for made in (rational, floating)
        for ident, _ in said(made.remarks)
        if ident == "undecided-precision"
    }
    if undecided:
        return
    probabilities = float_probabilities(floating.law)
    values_made = list(rational.law.values)  # type: ignore[union-attr]
    assert_close(probabilities, values_made, rational.law.bound + floating.law.bound)
    assert said(floating.remarks) == said(rational.remarks)
