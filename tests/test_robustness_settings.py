"""Settings that cannot be meant: sizes beyond float64, broken config files, options given twice."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

from specdist.errors import SettingsError
from specdist.processing import parse_recipe
from tests.cli import SAMPLES, run

CAPTURE = SAMPLES / "three_tokens.json"


@pytest.mark.parametrize(
    "step",
    [
        "temperature:1e-400",
        "temperature:1e-9999",
        "temperature:1e101",
        "logit-bias:0=1e1999",
        "logit-bias:0=-1e999",
        "top-n-sigma:1e1999",
        "top-n-sigma:1e999",
        "frequency-penalty:1e999",
        "presence-penalty:-1e1999",
        "repetition-penalty:1e-400",
        "repetition-penalty:1e-9999",
        "repetition-penalty:1/1" + "0" * 101,
        "temperature:0." + "1" * 1000,
    ],
)
def test_a_size_that_no_float_holds_is_refused_as_it_was_typed(step: str) -> None:
    with pytest.raises(SettingsError) as caught:
        parse_recipe(step)
    typed = step.partition(":")[2].partition("=")[2] or step.partition(":")[2]
    assert typed[:30] in caught.value.message
    assert "1e100" in caught.value.expected + caught.value.advice or "characters" in (
        caught.value.advice
    )


@pytest.mark.parametrize("number", ["1e-100", "1e100", "0.1", "1/3", "12345678901234567890"])
def test_a_size_that_a_float_holds_is_read(number: str) -> None:
    assert str(parse_recipe(f"temperature:{number}"))


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8"])
@pytest.mark.parametrize(
    "options",
    [
        "-T 1e-100 --logit-bias 0=1e100",
        "-T 1e100",
        "--top-n-sigma 1e100",
        "--repetition-penalty 1e100 --history 0,1 -T 1e-100",
        "--frequency-penalty 1e100 --history 0,0,1 --top-n-sigma 1e-100",
    ],
)
def test_sizes_at_the_limit_give_a_verdict(tmp_path: Path, dtype: str, options: str) -> None:
    for side, numbers in (("t", [3, -2, 0.5, 1]), ("d", [1, 2, -3, 0])):
        np.save(tmp_path / f"{side}.npy", np.array([numbers], dtype))
    pair = ["--target", tmp_path / "t.npy", "--draft", tmp_path / "d.npy", "--kind", "logits"]
    assert run("check", *pair, *options.split()).code in (0, 4)


def test_a_product_beyond_float64_is_an_error_of_the_row(tmp_path: Path) -> None:
    for side in "td":
        np.save(tmp_path / f"{side}.npy", np.array([[1e300, -1e300, 5]]))
    pair = ["--target", tmp_path / "t.npy", "--draft", tmp_path / "d.npy", "--kind", "logits"]
    done = run("check", *pair, "--repetition-penalty", "1e-90", "--history", "0")
    assert done.code == 2
    assert "leaves the range of float64" in " ".join(done.stderr.split())


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("temperature = " + "9" * 5000, "more than 4300 digits"),
        ("temperature = 0x" + "f" * 50_000, "is not a number"),
        ("normalise = 0x" + "f" * 50_000, "has the wrong type"),
        ("role = [0x" + "f" * 50_000 + "]", "has the wrong type"),
        ("temperature = " + "[" * 50_000, "nested too deeply"),
    ],
)
def test_a_config_file_with_endless_values(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, message: str
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("specdist.toml").write_text(text, encoding="utf-8")
    done = run("check", CAPTURE)
    assert (done.code, done.stdout) == (2, "")
    assert message in " ".join(done.stderr.split())
    assert "specdist.toml" in done.stderr
    assert len(done.stderr) < 1000


@pytest.mark.parametrize("kind", ["folder", "loop", "pipe"])
def test_a_config_file_that_is_no_file_is_not_overlooked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    monkeypatch.chdir(tmp_path)
    path = Path("specdist.toml")
    if kind == "folder":
        path.mkdir()
    elif kind == "loop":
        path.symlink_to(path)
    else:
        os.mkfifo(path)
    done = run("check", CAPTURE)
    assert (done.code, done.stdout) == (2, "")
    assert "not a file that can be read" in done.stderr


def test_an_engine_in_the_environment_is_not_ignored(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SPECDIST_ENGINE", "vllm-0.33.0")
    done = run("check", CAPTURE)
    assert (done.code, done.stdout) == (2, "")
    assert "unknown engine 'vllm-0.33.0'" in done.stderr
    monkeypatch.setenv("SPECDIST_ENGINE", "")
    assert run("check", CAPTURE).code == 0


@pytest.mark.parametrize(
    "options", ["-T 1 -T 2", "-T 1 --temperature=1", "--format json --format text"]
)
def test_an_option_of_one_value_is_given_once(options: str) -> None:
    done = run("check", CAPTURE, *options.split())
    assert (done.code, done.stdout) == (2, "")
    assert "is given twice" in done.stderr


def test_flags_and_lists_may_be_repeated() -> None:
    roles = ["--role", "drafted_from=raw", "--role", "accept_draft=raw"]
    assert run("check", CAPTURE, "-q", "-q", *roles).code == 0


def test_empty_names_are_called_empty() -> None:
    assert "the name of a file is empty" in run("check", "").stderr
    pair = ["--target", CAPTURE, "--draft", CAPTURE]
    assert run("check", "").code == 2
    done = run("check", *pair, "--draft-lengths", "")
    assert done.code == 2 or "draft-lengths" not in done.stderr
