"""What a rational row must be before any step, the stages, and rows that a step would empty."""

from __future__ import annotations

import math
import struct
from collections.abc import Sequence
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specdist.errors import NotNormalisedError, RowError, SettingsError
from specdist.model.row import Kind, NumberFormat, PointMass, Row, Stage
from specdist.processing import RowContext, TokenHistory, apply_recipe, parse_recipe
from specdist.processing.dtype_hint import is_shortest_text, rounded
from specdist.processing.row_sum import sum_allowance
from tests.processing_rows import (
    PLACE,
    F,
    Number,
    law,
    logits_row,
    made_row,
    probability_row,
    remarks,
)

NORMALISE = RowContext(normalise=True)


def float32(value: float) -> Fraction:
    return Fraction(struct.unpack("<f", struct.pack("<f", value))[0])


# Probabilities.


def test_a_negative_probability_names_its_token() -> None:
    with pytest.raises(RowError, match="probability of token 1 is -1/10") as raised:
        law("raw", probability_row(["6/10", "-1/10", "1/2"]))
    assert raised.value.place == f"{PLACE}[1]"


def test_minus_infinity_is_no_probability() -> None:
    with pytest.raises(RowError, match="token 2 is -inf"):
        law("raw", made_row([1, 0, None], "probabilities"))


def test_a_row_of_zeros_and_a_row_of_nothing() -> None:
    for context in (RowContext(), NORMALISE):
        with pytest.raises(RowError, match="every probability is 0"):
            law("raw", probability_row([0, 0, 0]), context)
    with pytest.raises(RowError, match="holds no token"):
        law("raw", probability_row([]))


@pytest.mark.parametrize(
    ("values", "difference"),
    [
        (["1/2", "3/10", "1/10"], "1 - 1/10"),
        (["1/2", "1/2", "1/1000000000000"], "1 + 1/1000000000000 (1e-12)"),
        (["1/3", "1/3", "333/1000"], "1 - 1/3000"),
    ],
)
def test_decimals_must_sum_to_one_exactly(values: list[str], difference: str) -> None:
    with pytest.raises(NotNormalisedError) as raised:
        law("raw", probability_row(values))
    assert raised.value.message == f"probabilities sum to {difference}"
    assert raised.value.place == PLACE
    assert raised.value.advice.endswith("--normalise rescales the row and reports it")
    assert raised.value.ident == "row-not-normalised"


def test_normalise_rescales_and_says_so() -> None:
    row = probability_row(["1/2", "3/10", "1/10", 0])
    assert law("raw", row, NORMALISE).values == (F("5/9"), F("1/3"), F("1/9"), 0)
    (remark,) = remarks("raw", row, NORMALISE)
    assert remark.ident == "row-not-normalised"
    assert "1 - 1/10" in remark.message
    assert "--normalise" in remark.message
    assert remarks("raw", probability_row(["1/2", "3/10", "1/5"]), NORMALISE) == ()


@pytest.mark.parametrize(
    ("values", "numbers"),
    [
        (["0.33333334"] * 3, "float32"),
        (["0.3333333333333333"] * 3, "float64"),
        (["0.3333"] * 3, "float16"),
        (["0.334"] * 3, "bfloat16"),
        (["0.1", "0.2", "0.70000005"], "float32"),
    ],
)
def test_printed_floats_are_recognised(values: list[str], numbers: str) -> None:
    with pytest.raises(NotNormalisedError) as raised:
        law("raw", probability_row(values))
    assert raised.value.advice.startswith(
        f"these look like {numbers} values: --numbers {numbers}; --normalise"
    )


@pytest.mark.parametrize(
    "values", [["0.3", "0.3", "0.3"], ["0.333333343", "0.333333343", "0.333333343"],
               ["1/3", "1/3", "1/3000"]]
)  # fmt: skip
def test_other_numbers_get_no_hint(values: list[str]) -> None:
    with pytest.raises(NotNormalisedError) as raised:
        law("raw", probability_row(values))
    assert "look like" not in raised.value.advice


@given(st.floats(2**-20, 1.0, width=32))
def test_shortest_texts_of_float32(value: float) -> None:
    texts = [f"{value:.{digits}g}" for digits in range(1, 10)]
    shortest = next(text for text in texts if float32(float(text)) == value)
    assert is_shortest_text(Fraction(shortest), NumberFormat.FLOAT32)
    longer = Fraction(f"{value:.12g}")
    assert is_shortest_text(longer, NumberFormat.FLOAT32) is (longer == Fraction(shortest))


@pytest.mark.parametrize(
    ("value", "stored"),
    [
        (1.0, 1.0),
        (1 + 2**-9, 1 + 2**-7 * 0),
        (1 + 2**-8, 1.0),
        (1 + 3 * 2**-8, 1 + 2**-6),
        (1 + 2**-8 + 2**-20, 1 + 2**-7),
    ],
)
def test_bfloat16_rounds_to_nearest_even(value: float, stored: float) -> None:
    assert rounded(value, NumberFormat.BFLOAT16) == stored


def test_stored_floats_are_read_as_weights_over_their_sum() -> None:
    values = [float32(0.1), float32(0.2), float32(0.7)]
    row = made_row(values, "probabilities", numbers="float32")
    total = sum(values, Fraction(0))
    assert total != 1
    assert law("raw", row).values == tuple(value / total for value in values)
    (remark,) = remarks("raw", row)
    assert remark.ident == "row-not-normalised"
    assert f"{float(abs(total - 1)):.6g}" in remark.message
    assert "within the rounding" in remark.message


def softmax(values: Sequence[float], width: str) -> list[Fraction]:
    """A softmax computed in float64 and stored in another format."""
    weights = [math.exp(value - max(values)) for value in values]
    return [
        Fraction(rounded(weight / math.fsum(weights), NumberFormat(width))) for weight in weights
    ]


@pytest.mark.parametrize("width", ["float16", "bfloat16", "float32", "float64"])
@given(st.lists(st.floats(-12, 12), min_size=3, max_size=40))
def test_a_rounded_softmax_is_within_its_allowance(width: str, values: list[float]) -> None:
    stored = softmax(values, width)
    made = law("raw", made_row(stored, "probabilities", numbers=width))
    assert list(made.values) == [value / sum(stored, Fraction(0)) for value in stored]


@pytest.mark.parametrize("width", ["float16", "bfloat16", "float32", "float64"])
def test_beyond_the_allowance_is_an_error(width: str) -> None:
    stored = softmax([1.0, 2.0, 3.0], width)
    allowance = sum_allowance(NumberFormat(width), 3, Fraction(1))
    for sign in (1, -1):
        moved = [stored[0] + sign * 3 * allowance, *stored[1:]]
        with pytest.raises(NotNormalisedError, match=f"beyond {width} rounding"):
            law("raw", made_row(moved, "probabilities", numbers=width))


def test_the_allowance_by_hand() -> None:
    # 3 tokens: 2 * ceil(log2 3) + 16 = 20 units of the accumulator.
    one = Fraction(1)
    assert sum_allowance(NumberFormat.DECIMAL, 3, one) == 0
    assert sum_allowance(NumberFormat.FLOAT32, 3, one) == F(21, 2**24) + F(3, 2**150)
    assert sum_allowance(NumberFormat.BFLOAT16, 3, one) == F(1, 2**8) + F(20, 2**24) + F(3, 2**134)
    assert sum_allowance(NumberFormat.FLOAT16, 3, one) == F(1, 2**11) + F(20, 2**24) + F(3, 2**25)
    assert sum_allowance(NumberFormat.FLOAT64, 3, one) == F(21, 2**53) + F(3, 2**1075)
    assert sum_allowance(NumberFormat.FLOAT32, 1, one) == F(17, 2**24) + F(1, 2**150)
    grown = sum_allowance(NumberFormat.FLOAT32, 151_936, one)
    assert F(53, 2**24) < grown < F(54, 2**24)


# Logits and log-probabilities.


def test_masked_logits_are_impossible_and_all_masked_is_an_error() -> None:
    assert law("raw", logits_row([0, None, 0])).values == (F("1/2"), 0, F("1/2"))
    with pytest.raises(RowError, match="every token is masked"):
        law("raw", logits_row([None, None, None]))
    with pytest.raises(RowError, match="every token is masked"):
        law("raw", made_row([None, None, None], "logprobs"))


def logprobs_row(values: Sequence[Number | None], numbers: str = "decimal") -> Row:
    return made_row(values, "logprobs", numbers=numbers)


def test_log_probabilities_above_zero_are_refused() -> None:
    with pytest.raises(RowError, match="log-probability of token 1 is 1/10, above 0") as raised:
        law("raw", logprobs_row(["-3", "0.1", "-2"]))
    assert raised.value.place == f"{PLACE}[1]"
    assert "--kind logits" in raised.value.advice


def test_a_log_probability_above_zero_by_rounding_is_read() -> None:
    row = logprobs_row([float32(1e-7), float32(-25.0), None], "float32")
    assert law("raw", row).support == 2
    with pytest.raises(RowError, match="above 0"):
        law("raw", logprobs_row([float32(1e-5), float32(-25.0), None], "float32"))
    with pytest.raises(RowError, match="above 0"):
        law("raw", logprobs_row([float32(1e-7), float32(-25.0), None], "float64"))


@pytest.mark.parametrize(
    "values",
    [
        ["-0.6931471805599453", "-1.0986122886681098", "-1.791759469228055"],
        ["-0.693147", "-1.098612", "-1.791759"],
        ["-0.693", "-1.099", "-1.792"],
    ],
)
def test_written_log_probabilities_may_be_rounded_to_their_last_decimal(values: list[str]) -> None:
    made = law("raw", logprobs_row(values))
    assert abs(made.values[0] - F("1/2")) < F("1/200")
    (remark,) = remarks("raw", logprobs_row(values))
    assert remark.ident == "row-not-normalised"


@pytest.mark.parametrize(
    "values",
    [
        ["-0.693147", "-1.098612", "-1.8"],
        # Written to seven decimals, so neighbours rounded to six are off by too much.
        ["-0.6931471", "-1.098611", "-1.791759"],
        # Fewer than three decimals are no evidence of rounding.
        ["-0.69", "-1.1", "-1.79"],
        ["-1/2", "-3/2", "-5/2"],
        ["-1", "-1", "-1"],
        ["-7/11", "-11/10", "-9/5"],
    ],
)
def test_log_probabilities_must_sum_to_one(values: list[str]) -> None:
    row = logprobs_row(values)
    with pytest.raises(NotNormalisedError, match="exponentials of the log-probabilities"):
        law("raw", row)
    rescaled = law("raw", row, NORMALISE)
    assert sum(rescaled.values) == 1
    (remark,) = remarks("raw", row, NORMALISE)
    assert "--normalise" in remark.message


def test_a_certain_log_probability_is_exact() -> None:
    row = logprobs_row([0, None, None])
    assert law("raw", row).values == (1, 0, 0)
    assert remarks("raw", row) == ()


# Point masses and vocabularies.


def test_a_point_mass_outside_the_vocabulary() -> None:
    row = Row(PointMass(4, 4), Kind.PROBABILITIES, Stage.RAW, NumberFormat.DECIMAL, PLACE)
    with pytest.raises(RowError, match="one-hot token 4 is outside the vocabulary"):
        law("raw", row)


# Stages.


@pytest.mark.parametrize(
    ("stage", "recipe"),
    [
        ("temperature", "temperature:1/2"),
        ("temperature", "top-k:2,temperature:1/2"),
        ("processed", "temperature:1/2"),
        ("processed", "top-p:9/10"),
        ("processed", "banned:1"),
    ],
)
def test_a_step_is_not_applied_again(stage: str, recipe: str) -> None:
    row = made_row(["1/2", "3/10", "1/5"], "probabilities", stage=stage)
    with pytest.raises(SettingsError, match=f"row of stage '{stage}'") as raised:
        law(recipe, row)
    assert "--stage raw" in raised.value.advice
    assert "--recipe raw" in raised.value.advice
    assert raised.value.place == PLACE


@pytest.mark.parametrize(
    ("stage", "recipe"),
    [
        ("temperature", "top-p:1/2"),
        ("temperature", "temperature:1,banned:1"),
        ("processed", "raw"),
        ("processed", "temperature:1,top-p:1"),
    ],
)
def test_what_the_stage_allows(stage: str, recipe: str) -> None:
    values = ["1/2", "3/10", "1/5"]
    made = law(recipe, made_row(values, "probabilities", stage=stage))
    assert made == law(recipe, probability_row(values))


# Rows that a step would empty.


@pytest.mark.parametrize(
    ("recipe", "step"),
    [
        ("allowed:3", "allowed:3"),
        ("banned:0+1+2", "banned:0+1+2"),
        ("top-k:1,banned:0", "banned:0"),
        ("min-p:1:equal=drop", "min-p:1:equal=drop"),
    ],
)
def test_an_emptied_row_is_an_error_that_names_the_step(recipe: str, step: str) -> None:
    with pytest.raises(RowError, match="no token is left") as raised:
        law(recipe, probability_row(["1/2", "3/10", "1/5", 0]))
    assert step in raised.value.message
    assert raised.value.place == PLACE


def test_masked_end_of_sequence_can_empty_a_row() -> None:
    row = logits_row([None, 1, None])
    with pytest.raises(RowError, match=r"min-tokens:3:eos=1.*no token is left"):
        apply_recipe(parse_recipe("min-tokens:3:eos=1"), row, RowContext(TokenHistory((), 0)))


def test_penalties_act_on_the_logarithm_of_the_rescaled_probability() -> None:
    made = law("repetition-penalty:2:history=0", probability_row(["1/2", "1/4", 0]), NORMALISE)
    assert made.values == (F("4/7"), F("3/7"), 0)
