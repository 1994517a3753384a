"""``specdist compare``: the same rows under several engines and rules."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from specdist.cli.commands.config import schema
from tests.cli import SAMPLES, exact, run

ROWS = ("--target", "1/2,3/10,1/10,1/10", "--draft", "2/5,2/5,1/10,1/10")
PAIR = (
    "--target", SAMPLES / "captures" / "target.npy", "--draft", SAMPLES / "captures" / "draft.npy",
    "--draft-lengths", "4x4", "--kind", "logits", "--limit", "1",
)  # fmt: skip


def variants(*arguments: object) -> dict[str, dict[str, Any]]:
    answer = run("compare", *arguments, "--format", "json", "--workers", "1")
    assert answer.code == 0, answer.stderr
    made = answer.json()
    jsonschema.validate(made, json.loads(schema("comparison")))
    return {item["variant"]: item for item in made["variants"]}


def test_engines_and_rules_are_variants_over_the_same_rows() -> None:
    made = variants(
        *ROWS, "--min-p", "1/4", "--engine", "vllm_v1_probabilistic", "--engine", "textbook",
        "--rule", "token", "--rule", "one-hot",
    )  # fmt: skip
    assert list(made) == ["vllm-v1-probabilistic", "textbook", "rule token", "rule one-hot"]
    engine = made["vllm-v1-probabilistic"]
    assert (engine["engine"], engine["rules"]) == ("vllm-v1-probabilistic", ["token"])
    assert engine["verdict"] == "different"
    assert exact(engine["total_variation_max"]) == Fraction(1, 5)
    assert exact(engine["acceptance_rate"]) == Fraction(9, 10)
    assert "lossless-for-another-target" in engine["findings"]
    for name in ("textbook", "rule token"):
        assert made[name]["verdict"] == "equal"
        assert exact(made[name]["acceptance_rate"]) == Fraction(31, 40)
    assert made["rule one-hot"]["verdict"] == "equal"
    assert exact(made["rule one-hot"]["acceptance_rate"]) == Fraction(2, 5)
    assert made["rule token"]["engine"] is None


def test_the_table_fits_80_columns() -> None:
    rules = [
        "--rule",
        "cascade:1/2:recovery=target",
        "--rule",
        "typical:0.3:delta=0.09:recovery=target",
    ]
    done = run("compare", *ROWS, "--engine", "vllm", *rules)
    assert done.code == 0
    lines = done.stdout.splitlines()
    assert all(len(line) <= 80 for line in lines)
    assert lines[0].split() == ["variant", "verdict", "acceptance", "rate", "largest", "variation"]
    assert lines[1].split() == ["vllm-v2", "equal", "1/2", "0"]
    assert "rule typical:0.3:delta=0.09:recovery=target" in lines
    assert "    lossy-by-design" in "\n".join(lines)
    assert "1 step, 1 position under each" in lines


def test_captures_folders_and_pairs_of_dumps(tmp_path: Path) -> None:
    files = [SAMPLES / "three_tokens.json", SAMPLES / "draft_top_p_untested.json"]
    made = variants(*files, "--engine", "textbook", "--rule", "one-hot")
    assert [item["steps"] for item in made.values()] == [2, 2]
    assert (made["textbook"]["equal"], made["rule one-hot"]["equal"]) == (1, 2)
    made = variants(*PAIR, "-T", "0.8", "--top-p", "0.95", "--engine", "hf", "--engine", "vllm")
    assert [item["positions"] for item in made.values()] == [4, 4]
    rates = [item["acceptance_rate"]["approx"] for item in made.values()]
    assert rates[0] != rates[1]
    assert {item["verdict"] for item in made.values()} == {"equal"}
    for name in ("a", "b"):
        (tmp_path / f"{name}.json").write_text(files[0].read_text())
    assert [
        i["steps"] for i in variants(tmp_path, "--rule", "token", "--rule", "always").values()
    ] == [2, 2]


def test_a_capture_from_standard_input_is_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    import io
    import sys

    content = (SAMPLES / "three_tokens.json").read_bytes()
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))
    made = variants("-", "--rule", "token", "--rule", "always")
    assert [item["steps"] for item in made.values()] == [1, 1]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([*ROWS, "--engine", "vllm"], "there is nothing to compare"),
        ([*ROWS, "--engine", "vllm", "--engine", "vlm"], "unknown engine 'vlm'"),
        ([*ROWS, "--engine", "vllm", "--rule", "tokn"], "rule=tokn is unknown"),
        (["--engine", "vllm", "--engine", "hf"], "no capture is given"),
        (["--target", "1/2,1/2", "--engine", "vllm", "--engine", "hf"], "no draft row"),
        (["--target", "1/2,1/2", "--draft", "d.npy", "--engine", "vllm", "--engine", "hf"],
         "typed rows and files are given together"),
        ([*ROWS, "x.json", "--engine", "vllm", "--engine", "hf"],
         "typed rows and files are given together"),
        ([*ROWS, "--min-p", "1/9", "--engine", "vllm", "--engine", "llama.cpp", "--engine",
          "tensorrt-llm"], "engine tensorrt-llm-torch has no min-p"),
        (["missing.json", "--engine", "vllm", "--engine", "hf"], "missing.json"),
        ([SAMPLES / "README.md", "--engine", "vllm", "--engine", "hf"], "README.md"),
    ],
)  # fmt: skip
def test_bad_input_ends_with_2_and_an_empty_stdout(arguments: list[object], message: str) -> None:
    done = run("compare", *arguments)
    assert (done.code, done.stdout) == (2, "")
    assert message in " ".join(done.stderr.split())


def test_a_broken_capture_among_good_ones_is_bad_input(tmp_path: Path) -> None:
    (tmp_path / "broken.json").write_text('{"target": [1, 2], "draft": [1, 0]}')
    good = SAMPLES / "three_tokens.json"
    done = run("compare", good, tmp_path / "broken.json", "--rule", "token", "--rule", "always")
    assert (done.code, done.stdout) == (2, "")
    assert "broken.json" in done.stderr


def test_nothing_selected_is_nothing_checked() -> None:
    sample = SAMPLES / "three_tokens.json"
    done = run("compare", sample, "--select", "nothing", "--rule", "token", "--rule", "always")
    assert done.code == 3


def test_a_rule_beside_an_engine_of_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SPECDIST_ENGINE", "flashinfer")
    made = variants(*ROWS, "--rule", "token", "--rule", "one-hot")
    assert list(made) == ["flashinfer-chain, rule token", "flashinfer-chain, rule one-hot"]


def test_the_references_of_two_engines_are_compared_too() -> None:
    logits = ("--target-logits", "2,1.6,.6,.6,0,-1", "--draft-logits", "1,2,.5,.5,0,0")
    options = ("-T", ".7", "--top-k", "3", "--top-p", "0.9", "--format", "json")
    engines = ("--engine", "transformers", "--engine", "vllm", "--engine", "hf-match")
    first, other, same = run("compare", *logits, *options, *engines).json()["variants"]
    assert first["reference_distance"] is None
    assert 0.0796 < other["reference_distance"]["approx"] < 0.0797
    assert same["reference_distance"]["approx"] == 0
