"""Captures that say little and ask for much, or hold what only looks like a capture."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from specdist.readers.json_positions import VOCABULARY_LIMIT
from tests.cli import Result, run


def checked(folder: Path, document: Any, *options: str) -> Result:
    path = folder / "capture.json"
    path.write_text(document if isinstance(document, str) else json.dumps(document), "utf-8")
    return run("check", path, *options)


def pair(folder: Path, target: Any, draft: Any, *options: str) -> Result:
    for side, numbers in (("t", target), ("d", draft)):
        np.save(folder / f"{side}.npy", numbers)
    return run("check", "--target", folder / "t.npy", "--draft", folder / "d.npy", *options)


@pytest.mark.parametrize("size", [99999999999999999999, 10**300, 10**12, 10**9, 3 * 10**7])
@pytest.mark.parametrize("draft", [{"one_hot": 0}, {"0": 1}])
def test_a_vocabulary_without_end_is_refused(tmp_path: Path, size: int, draft: Any) -> None:
    document = {"vocab_size": size, "target": {"0": 1}, "draft": draft}
    done = checked(tmp_path, document)
    assert (done.code, done.stdout) == (2, "")
    assert f"at most {VOCABULARY_LIMIT} tokens" in done.stderr
    assert len(done.stderr) < 600
    del document["vocab_size"]
    if size < 10**18:
        assert checked(tmp_path, document, "--vocab-size", str(size)).code == 2


def test_one_hot_rows_of_a_large_vocabulary_are_cheap(tmp_path: Path) -> None:
    hot = {"one_hot": 300_000}
    document = {"vocab_size": VOCABULARY_LIMIT, "target": hot, "draft": hot}
    assert checked(tmp_path, document).code == 0


@pytest.mark.parametrize(
    ("document", "message", "place"),
    [
        ({"steps": {}}, "steps cannot be an object", "steps"),
        ({"steps": None}, "steps cannot be null", "steps"),
        ({"steps": [{}]}, "an object without rows", "steps[0]"),
        ({"steps": [5]}, "a number without rows", "steps[0]"),
        ({"target": 5}, "target cannot be a number", "target"),
        ({"positions": []}, "positions cannot be empty", "positions"),
        (
            '{"target": [1,\n  ' + "9" * 5000 + "]}",
            "a number of 5000 characters",
            "line 2, column 3",
        ),
        ('{"target": [0.' + "9" * 5000 + "]}", "a number of 5002 characters", "line 1, column 13"),
        ('{"target":\n' + "[" * 100_000, "nested too deeply", "line 2, column 100"),
        ({"target": [10**300, 0], "draft": [1, 0]}, "1 + 1e+300", "target"),
        ({"target": ["9" * 3000 + "/0", 0], "draft": [1, 0]}, "divides by zero", "target[0]"),
    ],
)
def test_the_message_says_what_and_where(
    tmp_path: Path, document: Any, message: str, place: str
) -> None:
    done = checked(tmp_path, document)
    text = " ".join(done.stderr.split())
    assert (done.code, done.stdout) == (2, "")
    assert message in text
    assert f"capture.json, {place}" in text
    assert "did you mean 'steps'" not in text
    assert "9" * 60 not in text


@pytest.mark.parametrize("value", ["-9999", "-1000", "-3.4028234663852886e38", "-99999"])
def test_a_clamp_for_minus_infinity_is_noted(tmp_path: Path, value: str) -> None:
    rows = {"target": [0, value], "draft": [value, 0]}
    done = checked(tmp_path, {"kind": "logprobs", **rows}, "--format", "json")
    (step,) = done.json()["steps"]
    notes = [f for f in step["findings"] if f["ident"] == "configuration-needed"]
    assert [note["severity"] for note in notes] == ["note"]
    assert "look like a clamp for minus infinity" in notes[0]["message"]
    logits = checked(tmp_path, {"kind": "logits", **rows}, "--format", "json")
    assert "look like a clamp" not in logits.stdout


@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_a_clamp_in_a_dump_is_noted(tmp_path: Path, dtype: str) -> None:
    rows = np.array([[0, -9999, -np.inf], [0, -50, -np.inf]], dtype)
    options = ["--kind", "logprobs", "--stage", "raw", "--format", "json"]
    first, second = pair(tmp_path, rows, rows, *options).json()["steps"]
    assert "values of -9999" in str(first) or "log-probabilities of -9999" in str(first)
    assert "look like a clamp" not in str(second)


def test_a_dump_that_is_masked_as_a_whole_says_so(tmp_path: Path) -> None:
    rows = np.full((2, 4), -np.inf, "f4")
    done = pair(tmp_path, rows, rows)
    assert done.code == 2
    assert "every token is masked" in done.stderr


def test_normalise_takes_rows_of_unclear_kind_as_probabilities(tmp_path: Path) -> None:
    rows = np.array([[0.5, 0.25, 0.125]], "f4")
    unclear = pair(tmp_path, rows, rows)
    assert unclear.code == 2
    assert "--kind" in unclear.stderr
    assert pair(tmp_path, rows, rows, "--normalise").code == 0
    cut = np.array([[-2.0, -3.0, -4.0]], "f4")
    assert "--kind" in pair(tmp_path, cut, cut, "--normalise").stderr


def test_normalise_refuses_values_whose_sum_leaves_float64(tmp_path: Path) -> None:
    rows = np.array([[2.0**1000, 1.0, 0.0]])
    done = pair(tmp_path, rows, rows, "--normalise", "--kind", "probabilities")
    assert done.code == 2
    assert "error[invalid-row]" in done.stderr
    assert "too large to be normalised" in done.stderr


def test_an_unreadable_side_of_an_archive_is_named(tmp_path: Path) -> None:
    path = tmp_path / "pair.npz"
    rows = np.array([[0.5, 0.5]])
    np.savez(path, target=np.array([[1, "a"]], object), draft=rows)
    done = run("check", path)
    assert done.code == 2
    assert "the tensor target cannot be read" in " ".join(done.stderr.split())
    assert "pair.npz, target" in " ".join(done.stderr.split())
    np.savez(path, target=np.array([[1 + 2j]]), draft=rows)
    assert "pair.npz, target" in " ".join(run("check", path).stderr.split())


def test_a_side_of_unknown_numbers_in_safetensors_is_named(tmp_path: Path) -> None:
    header = json.dumps(
        {
            "target": {"dtype": "F8_E4M3", "shape": [1, 2], "data_offsets": [0, 2]},
            "draft": {"dtype": "F32", "shape": [1, 2], "data_offsets": [2, 10]},
        }
    ).encode()
    path = tmp_path / "pair.safetensors"
    path.write_bytes(len(header).to_bytes(8, "little") + header + bytes(10))
    done = run("check", path)
    assert done.code == 2
    assert "pair.safetensors, target" in " ".join(done.stderr.split())
