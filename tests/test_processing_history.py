"""Which tokens a penalty counts, and how many are output: scopes, drafts, explicit histories."""

from __future__ import annotations

from fractions import Fraction

import pytest

from specdist.errors import SettingsError
from specdist.processing import RowContext, TokenHistory
from tests.processing_rows import context, law, logits_row

ZEROS = [0] * 6
BLOCK = context((0, 1, 2, 2), prompt_length=2, drafted=(3, 2))
PENALTIES = ("repetition-penalty:2", "presence-penalty:1", "frequency-penalty:1")
#: Options, and the occurrences of each of six tokens that they count.
SCOPES = [
    ("", (1, 1, 3, 1, 0, 0)),
    (":scope=all", (1, 1, 3, 1, 0, 0)),
    (":scope=output", (0, 0, 3, 1, 0, 0)),
    (":drafts=frozen", (1, 1, 2, 0, 0, 0)),
    (":scope=output:drafts=frozen", (0, 0, 2, 0, 0, 0)),
    (":scope=last-1", (0, 0, 1, 0, 0, 0)),
    (":scope=last-3", (0, 0, 2, 1, 0, 0)),
    (":scope=last-1:drafts=frozen", (0, 0, 1, 0, 0, 0)),
    (":scope=last-3:drafts=frozen", (0, 1, 2, 0, 0, 0)),
    (":scope=last-99", (1, 1, 3, 1, 0, 0)),
    (":history=4+5+5", (0, 0, 1, 1, 1, 2)),
    (":history=4+5+5:drafts=frozen", (0, 0, 0, 0, 1, 2)),
    (":history=4+5+5:scope=output:prompt=1", (0, 0, 1, 1, 0, 2)),
    (":history=4+5+5:scope=output", (0, 0, 1, 1, 1, 2)),
    (":history=:drafts=frozen", (0, 0, 0, 0, 0, 0)),
    (":history=context", (1, 1, 3, 1, 0, 0)),
]


@pytest.mark.parametrize(("options", "times"), SCOPES)
def test_scopes(options: str, times: tuple[int, ...]) -> None:
    row = logits_row(ZEROS)
    assert law(f"frequency-penalty:1{options}", row, BLOCK).exponents == tuple(-n for n in times)
    once = tuple(-int(n > 0) for n in times)
    assert law(f"presence-penalty:1{options}", row, BLOCK).exponents == once
    threes = logits_row([3] * 6)
    halved = tuple(Fraction(3, 2) if n else Fraction(3) for n in times)
    assert law(f"repetition-penalty:2{options}", threes, BLOCK).exponents == halved


def test_repetition_divides_above_zero_and_multiplies_below() -> None:
    made = law("repetition-penalty:2:history=0+1+2+3+0", logits_row([3, 0, -3, None, 3]))
    assert made.exponents == (Fraction(3, 2), 0, -6, None, 3)


@pytest.mark.parametrize("penalty", PENALTIES)
def test_a_missing_history_is_an_error_that_shows_how_to_give_one(penalty: str) -> None:
    with pytest.raises(SettingsError, match="needs the tokens so far") as raised:
        law(penalty, logits_row(ZEROS))
    assert f"{penalty}:history=1+2+3" in raised.value.advice


@pytest.mark.parametrize("penalty", PENALTIES)
def test_an_empty_history_is_a_history(penalty: str) -> None:
    row = logits_row([1, 2, 3])
    assert law(penalty, row, context(())).exponents == (1, 2, 3)


@pytest.mark.parametrize("penalty", PENALTIES)
def test_output_needs_a_prompt_length(penalty: str) -> None:
    with pytest.raises(SettingsError, match="length of the prompt is not known"):
        law(f"{penalty}:scope=output", logits_row(ZEROS), context((1, 2)))


@pytest.mark.parametrize("penalty", PENALTIES)
def test_ids_outside_the_vocabulary_are_refused(penalty: str) -> None:
    for given in (context((1, 6)), context((1,), drafted=(6,)), context((-1,))):
        with pytest.raises(SettingsError, match="outside the vocabulary"):
            law(penalty, logits_row(ZEROS), given)
    with pytest.raises(SettingsError, match="token 6 of the history is outside"):
        law(f"{penalty}:history=6", logits_row(ZEROS))


@pytest.mark.parametrize(
    "step", ["allowed:1+6", "banned:6", "logit-bias:6=1", "min-tokens:1:eos=6"]
)
def test_listed_ids_outside_the_vocabulary_are_refused(step: str) -> None:
    with pytest.raises(SettingsError, match=r"token 6 .* is outside the vocabulary") as raised:
        law(step, logits_row(ZEROS), BLOCK)
    assert raised.value.expected == "token ids from 0 to 5"
    assert raised.value.place


def test_a_prompt_longer_than_the_history_is_refused() -> None:
    with pytest.raises(SettingsError, match="prompt=3 is longer"):
        law("presence-penalty:1:history=1+2:prompt=3:scope=output", logits_row(ZEROS))


@pytest.mark.parametrize(
    ("step", "given", "masked"),
    [
        # Two tokens of output, two drafted: four come before this position.
        ("min-tokens:5:eos=1", BLOCK, True),
        ("min-tokens:4:eos=1", BLOCK, False),
        ("min-tokens:3:eos=1:drafts=frozen", BLOCK, True),
        ("min-tokens:2:eos=1:drafts=frozen", BLOCK, False),
        ("min-tokens:8:eos=1", RowContext(TokenHistory((0,) * 7, 0)), True),
        ("min-tokens:7:eos=1", RowContext(TokenHistory((0,) * 7, 0)), False),
        (
            "min-tokens:9:eos=1",
            RowContext(TokenHistory((0,) * 7, 0, (0,))),
            True,
        ),
        (
            "min-tokens:8:eos=1",
            RowContext(TokenHistory((0,) * 7, 0, (0,))),
            False,
        ),
    ],
)
def test_min_tokens_counts_the_output(step: str, given: RowContext, masked: bool) -> None:
    made = law(step, logits_row([0, 0, 0, 0]), given)
    third, quarter = Fraction(1, 3), Fraction(1, 4)
    assert made.values == ((third, 0, third, third) if masked else (quarter,) * 4)


def test_min_tokens_masks_every_eos_id() -> None:
    made = law("min-tokens:9:eos=1+3", logits_row([0, 0, 0, 0]), RowContext(TokenHistory((), 0)))
    assert made.values == (Fraction(1, 2), 0, Fraction(1, 2), 0)


def test_min_tokens_needs_the_output_length() -> None:
    for given in (RowContext(), context((1, 2))):
        with pytest.raises(SettingsError, match="number of output tokens so far"):
            law("min-tokens:5:eos=1", logits_row(ZEROS), given)
