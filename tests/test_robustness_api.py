"""`specdist.check` on values that hold no rows, and errors as a Python program sees them."""

from __future__ import annotations

import pickle
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import specdist
from specdist.errors import SettingsError, SpecdistError
from tests.cli import SAMPLES, run

HUGE = 10**5000
GOOD = [1, 0]
HUGE_TOKEN = pytest.param(GOOD, HUGE, {}, "outside the vocabulary", id="huge token")


@pytest.mark.parametrize(
    ("target", "draft", "options", "said"),
    [
        ([HUGE, 0], GOOD, {"kind": "logits"}, "4000 digits"),
        ([Fraction(1, HUGE), 0], GOOD, {}, "4000 digits"),
        (["1e99999", 0], GOOD, {}, "is not an exact number"),
        (["1/1" + "0" * 5000, 0], GOOD, {}, "is not an exact number"),
        HUGE_TOKEN,
        (None, None, {}, "target: None is no row; expected a row [V] or rows [T, V]"),
        (GOOD, None, {}, "draft: None is no row"),
        (3, GOOD, {}, "target: 3 is no row"),
        ([1j], [1], {}, "target[0]: 1j is not an exact number"),
        ("a.npy", "b.npy", {}, "numpy.load(FILE)"),
        ([0.5, 0.5], GOOD, {}, "pass floats as a numpy array"),
        ([[0.5, 0.5]], [GOOD], {}, "pass floats as a numpy array"),
        ([GOOD, 1], [GOOD, GOOD], {}, "target[1]: 1 is no row"),
        (np.float32(3), GOOD, {}, "is no row"),
        (GOOD, GOOD, {"max_tv": "x"}, "a number from 0 to 1"),
        (GOOD, GOOD, {"max_tv": -1}, "a number from 0 to 1"),
        (GOOD, GOOD, {"temperature": HUGE}, "thousands of digits"),
        (GOOD, GOOD, {"recipe": 5}, "a recipe as a text"),
        (GOOD, GOOD, {"roles": 5}, "role names with recipes"),
        (GOOD, GOOD, {"roles": {"reference": 5}}, "a recipe as a text"),
        (GOOD, GOOD, {"zero_draft": "maybe"}, "error, accept or reject"),
    ],
)
def test_what_holds_no_rows_is_refused_with_advice(
    target: Any, draft: Any, options: dict[str, Any], said: str
) -> None:
    with pytest.raises(SettingsError) as caught:
        specdist.check(target, draft, **options)
    assert said in str(caught.value)
    assert len(str(caught.value)) < 400


def test_long_numbers_within_the_limit_are_read() -> None:
    assert specdist.check([10**3000, 0], [10**3000, 0], kind="logits").verdict == "equal"


def test_an_error_as_text_holds_everything_once() -> None:
    error = SpecdistError("it broke", place="here", expected="whole things", advice="mend it")
    assert str(error) == "here: it broke; expected whole things; mend it"
    assert str(SpecdistError("it broke")) == "it broke"
    assert error.message == "it broke"
    again = pickle.loads(pickle.dumps(error))
    assert (str(again), again.place) == (str(error), "here")
    assert str(SpecdistError("it broke").at("there")) == "there: it broke"


def test_the_command_line_shows_each_part_once() -> None:
    err = run("check", SAMPLES / "three_tokens.json", "--top-p", "2").stderr
    assert err.count("out of range") == err.count("command line") == 1


def test_public_names_are_listed() -> None:
    assert set(specdist.__all__) <= set(dir(specdist))
