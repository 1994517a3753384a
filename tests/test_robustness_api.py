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
        (GOOD, GOOD, {"zero_draft": "maybe"}, "error, accept, reject, accept-all"),
        (GOOD, GOOD, {"uniform": "8:ends=none"}, "uniform=8:ends=none is not a grid"),
        (GOOD, GOOD, {"ratio_epsilon": -1}, "ratio-epsilon=-1 is out of range"),
        (GOOD, GOOD, {"empty_residual": "first"}, "ask, token:ID, last, target or none"),
        (GOOD, GOOD, {"keep": "shares:1"}, "did you mean 'share'"),
        (GOOD, GOOD, {"keep": [1, 2]}, "keep: token 1 has 2.0"),
        (GOOD, GOOD, {"keep": [1, 1, 1]}, "keep: 3 numbers, the target row has 2"),
        (GOOD, GOOD, {"keep": [[1, 1], [1, 1]]}, "2 rows of keep, 1 target rows"),
        (GOOD, GOOD, {"accept": [0.5, 1]}, "accept[0]: 0.5 is not an exact number"),
        (GOOD, GOOD, {"recovery": "given"}, "'given' is no row"),
        (GOOD, GOOD, {"accept": GOOD}, "recovery is missing"),
        (GOOD, GOOD, {"accept": GOOD, "recovery": ["1/2", 0]}, "recovery: the numbers sum to 0.5"),
        (GOOD, GOOD, {"dropped": "target"}, "dropped without a keep rule"),
        (GOOD, GOOD, {"rule": "tokens"}, "did you mean 'token'"),
        (GOOD, GOOD, {"rule": 5}, "rule=5 is no text"),
        (GOOD, GOOD, {"engine": "vlm"}, "unknown engine 'vlm'"),
    ],
)
def test_what_holds_no_rows_is_refused_with_advice(
    target: Any, draft: Any, options: dict[str, Any], said: str
) -> None:
    with pytest.raises(SettingsError) as caught:
        specdist.check(target, draft, **options)
    assert said in str(caught.value)
    assert len(str(caught.value)) < 500


@pytest.mark.parametrize(
    ("ids", "said"),
    [
        ([0, 0], "entries 0 and 1 of the draft map are both target id 0"),
        ({"offsets": [0, -2]}, "entry 1 of the draft map is no target id: 1 + -2 = -1"),
        ("d2t.npy", "a draft map cannot be a text"),
        (np.array([0.5]), "an entry of a draft map cannot be"),
        ([], "the draft map is empty"),
    ],
)
def test_what_is_no_map_is_refused(ids: Any, said: str) -> None:
    with pytest.raises(SpecdistError) as caught:
        specdist.check(GOOD, GOOD, draft_map=ids)
    assert said in str(caught.value)


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
