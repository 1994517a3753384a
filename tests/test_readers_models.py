"""What captures say beside their rows: numerics, kept tokens, given rules, maps of draft ids."""

from __future__ import annotations

import json
import pickle
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from specdist.errors import CaptureError, SpecdistError
from specdist.model.capture import Position, Step
from specdist.model.options import ProcessingOptions
from specdist.readers import load_draft_map
from tests.cli import run
from tests.reader_files import npy, npz, read_one, read_pair, safetensors, torch_file, write

TARGET = ["1/2", "3/10", "1/10", "1/10"]
DRAFT = ["2/5", "2/5", "1/5"]
KEEP = ["1", "1/2", 0, 0.25]
MAP = (0, 2, 3)


def numbers(*texts: str | int) -> tuple[Fraction, ...]:
    return tuple(map(Fraction, texts))


def document(**members: Any) -> dict[str, Any]:
    return {"target": TARGET, "draft": DRAFT, **members}


def steps_of(folder: Path, value: Any) -> list[Step]:
    return read_one(write(folder, "c.json", json.dumps(value)))[1]


def position_of(folder: Path, **members: Any) -> Position:
    return steps_of(folder, document(**members))[0].positions[0]


def refusal(folder: Path, value: Any) -> SpecdistError:
    with pytest.raises(SpecdistError) as error:
        steps_of(folder, value)
    assert error.value.place.startswith(str(folder))
    return error.value


def test_options_of_the_numeric_model_and_of_dropped_tokens(tmp_path: Path) -> None:
    settings = {
        "uniform": "2^24:ends=one",
        "inequality": "inclusive",
        "ratio": "uncapped",
        "ratio_epsilon": 1e-10,
        "residual-floor": "1/1000",
        "zero_draft": "accept-all",
        "empty_residual": "token:3",
        "unnormalised": True,
        "keep": "own-probability:3/10",
        "dropped": "redraw-2",
        "proposal": "effective",
        "keep_when": "before",
    }
    (step,) = steps_of(tmp_path, document(settings=settings))
    assert step.options.numerics == {
        "uniform": "2^24:ends=one",
        "inequality": "inclusive",
        "ratio": "uncapped",
        "ratio-epsilon": "1e-10",
        "residual-floor": "1/1000",
        "zero-draft": "accept-all",
        "empty-residual": "token:3",
        "unnormalised": "yes",
    }
    assert step.options.proposal == {
        "keep": "own-probability:3/10",
        "dropped": "redraw-2",
        "proposal": "effective",
        "keep-when": "before",
    }


def test_settings_of_a_step_win_over_those_of_the_capture(tmp_path: Path) -> None:
    own = document(settings={"uniform": 8, "unnormalised": False, "dropped": "residual"})
    value = {"settings": {"uniform": 4, "ratio": "uncapped", "keep": "share:1/2"}, "steps": [own]}
    (step,) = steps_of(tmp_path, value)
    assert step.options == ProcessingOptions(
        numerics={"uniform": "8", "ratio": "uncapped", "unnormalised": "no"},
        proposal={"keep": "share:1/2", "dropped": "residual"},
    )


def test_keep_probabilities_by_token(tmp_path: Path) -> None:
    exact = numbers(1, "1/2", 0, "1/4")
    assert position_of(tmp_path, keep=KEEP).keep == exact
    assert position_of(tmp_path, keep={"0": 1, "1": "1/2", "3": "1/4"}).keep == exact
    named = position_of(tmp_path, keep={"A": 1}, vocab=["A", "B", "C", "D"]).keep
    assert named == numbers(1, 0, 0, 0)
    assert position_of(tmp_path, keep=None).keep is None


def test_a_given_rule(tmp_path: Path) -> None:
    rows = {"accept": [1, "1/2", 0, 0], "recovery": {"one_hot": 2}}
    (step,) = steps_of(tmp_path, document(**rows))
    assert step.options.rule == "given"
    assert step.positions[0].given == {
        "accept": numbers(1, "1/2", 0, 0),
        "recovery": numbers(0, 0, 1, 0),
    }
    floats = {"accept": [1, 1, 0.1, 0], "recovery": [0.1, 0.2, 0.3, 0.4], "numbers": "float32"}
    (step,) = steps_of(tmp_path, document(**floats))
    assert sum(step.positions[0].given["recovery"]) == 1
    (step,) = steps_of(tmp_path, document(accept=[1, 1, 1, 1], recovery=[0, 0, 0, 0]))
    assert step.positions[0].given["recovery"] == numbers(0, 0, 0, 0)


@pytest.mark.parametrize(
    ("members", "message", "place", "expected"),
    [
        ({"keep": [1, 1]}, "this row has 2 numbers", "c.json, keep", "[4]"),
        ({"keep": [1, 1, 1, "3/2"]}, "above 1, 3/2", "keep, token 3", "0 to 1"),
        ({"keep": [1, 1, 1, -1]}, "negative probability", "keep, token 3", "0 to 1"),
        ({"keep": "share:1/2"}, "a row cannot be a text", "keep", "array"),
        ({"accept": [2, 1, 1, 1]}, "acceptance probability above 1", "accept, token 0", "0 to 1"),
        ({"accept": [1] * 5}, "this row has 5 numbers", "accept", "[4]"),
        (
            {"recovery": [1, 0, 0, 0]},
            "acceptance probability of each token is",
            "c.json",
            '"accept"',
        ),
        (
            {"accept": [1, 0, 0, 0], "recovery": ["1/2", 0, 0, 0]},
            "recovery sums to 1/2",
            "recovery",
            "sums to 1",
        ),
        (
            {"accept": [1, 0, 0, 0], "settings": {"rule": "token"}},
            "accept is given, and the rule is token",
            "c.json",
            "no rule",
        ),
        ({"settings": {"rule": "given"}}, "the acceptance probability of", "c.json", "recovery"),
        ({"accept": [1, 0, 0, 0]}, "the law of the recovered token is not", "c.json", "zeros"),
        ({"settings": {"keep": [1, 0]}}, "keep cannot be an array", "settings.keep", "a keep rule"),
        ({"settings": {"unifrom": 8}}, "unknown key 'unifrom'", "settings", "'uniform'"),
        ({"settings": {"uniform": True}}, "not true", "settings.uniform", ""),
        ({"draft_map": [0, 1]}, "has 2 entries, the draft row 3", "draft_map", "each draft id"),
        ({"draft_map": [0, 1, 4]}, "entry 2 of the draft map is target id 4", "", "0 to 3"),
        ({"draft_map": [0, 1, 1]}, "entries 1 and 2", "draft_map[2]", "offsets"),
        ({"draft_map": [0, 1, -2]}, "entry 2 of the draft map is no target id", "[2]", "-1"),
        ({"draft_map": {"offsets": [0, -2, 0]}}, "1 + -2 = -1", "offsets[1]", "from 0"),
        ({"draft_map": [0, 1, "2"]}, "cannot be a text", "draft_map[2]", "whole"),
        ({"draft_map": {"offset": [0]}}, "cannot be an object", "draft_map", "offsets"),
        ({"draft_map": []}, "the draft map is empty", "draft_map", ""),
        ({"draft_vocab": ["a", "b"]}, "this row has 3 numbers", "draft", "[2]"),
        ({"draft_vocab": "ab"}, "draft_vocab is not a list", "draft_vocab", ""),
    ],
)
def test_what_is_refused(
    members: dict[str, Any], message: str, place: str, expected: str, tmp_path: Path
) -> None:
    error = refusal(tmp_path, document(**members))
    assert message in error.message
    assert place in error.place
    assert expected in error.expected + error.advice


def test_maps_of_the_capture_the_step_and_the_position(tmp_path: Path) -> None:
    rows = {"target": TARGET, "draft": DRAFT}
    other = {**rows, "draft_map": {"offsets": [0, 0, 1]}}
    value = {
        "draft_map": list(MAP),
        "steps": [
            {"positions": [rows]},
            {"positions": [rows, other], "draft_map": [3, 2, -1]},
            {"positions": [{"target": TARGET, "draft": {"one_hot": 3}}]},
        ],
    }
    steps = steps_of(tmp_path, value)
    maps = [[position.draft_map for position in step.positions] for step in steps]
    assert maps == [[MAP], [(3, 2, -1), (0, 1, 3)], [MAP]]
    assert steps[2].positions[0].draft.size == 4


def test_a_draft_with_texts_of_its_own(tmp_path: Path) -> None:
    value = document(vocab=["A", "B", "C", "D"], draft_vocab=["A", "x", "D"], draft={"x": 1})
    (step,) = steps_of(tmp_path, value)
    assert step.positions[0].draft.size == 3
    assert step.draft_vocab is not None
    assert step.draft_vocab.texts == ("A", "x", "D")
    value = document(target={"0": 1}, vocab_size=4, draft={"1": 1}, draft_map=list(MAP))
    (step,) = steps_of(tmp_path, value)
    assert (step.positions[0].target.size, step.positions[0].draft.size) == (4, 3)


def test_draft_rows_of_another_size_are_read(tmp_path: Path) -> None:
    assert position_of(tmp_path).draft.size == 3
    rows = np.log(np.array([[1, 2, 3, 4], [4, 3, 2, 1]], np.float32))
    target, draft = write(tmp_path, "t", npy(rows)), write(tmp_path, "d", npy(rows[:, :3]))
    for options in ({}, {"vocab_size": 4}):
        _, steps = read_pair(target, draft, **options)
        assert [step.positions[0].draft.size for step in steps] == [3, 3]


def test_two_json_files_keep_what_each_says(tmp_path: Path) -> None:
    ours = {"target": TARGET, "keep": KEEP, "settings": {"uniform": 8}}
    theirs = {"draft": DRAFT, "draft_map": list(MAP), "draft_vocab": ["a", "b", "c"]}
    paths = [write(tmp_path, n, json.dumps(v)) for n, v in (("t", ours), ("d", theirs))]
    _, (step,) = read_pair(*paths)
    (position,) = step.positions
    assert position.keep == numbers(1, "1/2", 0, "1/4")
    assert (position.draft_map, position.draft.size, position.target.size) == (MAP, 3, 4)
    assert step.options.numerics == {"uniform": "8"}
    assert step.draft_vocab is not None
    theirs["settings"] = {"uniform": 4}
    write(tmp_path, "d", json.dumps(theirs))
    with pytest.raises(CaptureError, match="settings of target and draft file differ"):
        read_pair(*paths)


ENTRIES = np.array(MAP)
FILES: dict[str, tuple[bytes | str, str]] = {
    "json": ("[0, 2, 3]", ""),
    "json ids": ('{"ids": [0, 2, 3]}', ""),
    "json offsets": ('{"offsets": [0, 1, 1]}', ""),
    "lines": ("0\n2\n\n3\n", ""),
    "npy": (npy(ENTRIES), ""),
    "npy of one row": (npy(ENTRIES.reshape(1, 3).astype(np.int32)), ""),
    "npz": (npz({"d2t": ENTRIES, "t2d": np.array([1, 0, 1, 1], bool)}), ""),
    "npz by name": (npz({"a": ENTRIES, "b": ENTRIES}), "::a"),
    "safetensors": (
        safetensors({"d2t": ("I64", ENTRIES), "lm_head.weight": ("F32", np.ones((3, 2), "f4"))}),
        "",
    ),
    "a list that torch saved": (torch_file(pickle.dumps([0, 2, 3], protocol=2), {}), ""),
    "safetensors, the only integers": (
        safetensors({"x": ("I32", ENTRIES.astype("i4")), "w": ("F32", np.ones(3, "f4"))}),
        "",
    ),
}


@pytest.mark.parametrize("case", FILES)
def test_files_of_maps(case: str, tmp_path: Path) -> None:
    content, name = FILES[case]
    assert load_draft_map(write(tmp_path, "map", content) + name) == MAP


def test_offsets_are_added_to_the_draft_id(tmp_path: Path) -> None:
    for content in ("[0, 1, 1]", "0\n1\n1\n", npy(np.array([0, 1, 1]))):
        path = write(tmp_path, "map", content)
        assert load_draft_map(path, "offsets") == MAP
        with pytest.raises(CaptureError, match="entries 1 and 2") as error:
            load_draft_map(path)
        assert "--draft-map-form offsets" in error.value.advice


@pytest.mark.parametrize(
    ("content", "name", "form", "message", "expected"),
    [
        ("", "", None, "the file is empty", ""),
        ("[0, 1.5]", "", None, "cannot be a number", "whole"),
        ('{"ids": [1]}', "", "offsets", "the map says ids, the command line says offsets", ""),
        ("0\nx\n", "", None, "no reader recognises", ""),
        ("0\n1 2\n", "", None, "'1 2' is no whole number", "one target id a line"),
        ("0\n-7\n", "", None, "entry 1 of the draft map is no target id: -7", "-1"),
        ("[1, 2]", "::d2t", None, "JSON holds no tensor", ""),
        (npy(np.ones(3)), "", None, "float64 numbers where whole numbers belong", ""),
        (npy(np.ones((2, 3), int)), "", None, "shape [2, 3]", "one axis"),
        (npy(np.ones(3, bool)), "", None, "marks target ids", "d2t"),
        (npz({"a": ENTRIES, "b": ENTRIES}), "", None, "none or several", "--draft-map"),
        (npz({"a": ENTRIES}), "::b", None, "no tensor 'b'", ""),
        ("99999999\n", "", None, "entry 0", "target ids"),
        (b"\x1f\x8b\x08", "", None, "gzip", "gunzip"),
    ],
)
def test_files_that_hold_no_map(
    content: bytes | str, name: str, form: str | None, message: str, expected: str, tmp_path: Path
) -> None:
    path = write(tmp_path, "map", content)
    with pytest.raises(CaptureError) as error:
        load_draft_map(path + name, form)
    assert message in error.value.message
    assert error.value.place.startswith(path)
    assert expected in error.value.expected + error.value.advice


@pytest.mark.parametrize("size", [2, 5])
@pytest.mark.parametrize(
    "members", [{"keep": [1, 1, 0, 0]}, {"accept": [1, 1, 0, 0], "recovery": [1, 0, 0, 0]}]
)
def test_numbers_by_token_belong_to_the_processed_rows(
    size: int, members: dict[str, Any], tmp_path: Path
) -> None:
    value = {"target": TARGET, "draft": TARGET, "settings": {"vocab_size": size}, **members}
    path = write(tmp_path, "c.json", json.dumps(value))
    result = run("check", path)
    assert (result.code, result.stdout) == (2, "")
    name = next(iter(members))
    assert f"{name} has 4 numbers, the processed rows have {size} tokens" in result.stderr
