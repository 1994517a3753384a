"""The laws of presets: one configuration in many engines, rows that differ, drafts processed twice.

Logits (2, 8/5, 3/5, 3/5, 0, -1), tokens 2 and 3 tie; prompt (1), output (2). The expected rows were
printed with four digits by the engines' own filters (vLLM 0.33.0, SGLang 0.5.23, transformers
5.24.0, llama.cpp 0c1e57098, mlx-lm 0.32.2) or computed from their formulas.
"""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from specdist.engines import engine_names, preset_named
from specdist.exact.law import FloatLaw
from specdist.model.options import ProcessingOptions
from specdist.model.role import Role
from specdist.model.row import FloatValues, Kind, NumberFormat, Row, Stage
from specdist.processing import RowContext, apply_recipe, resolve_recipes
from tests.cli import column, exact, only_position, run

LOGITS = "2,1.6,0.6,0.6,0,-1"
T, K, P, M = ("-T", "0.7"), ("--top-k", "3"), ("--top-p", "0.9"), ("--min-p", "0.1")
R, A = ("--repetition-penalty", "1.2"), ("--presence-penalty", "0.5")
PLAIN = ".5245 .2962 .0710 .0710 .0301 .0072"
FOUR = ".5448 .3077 .0737 .0737 0 0"
LOW = ".5882 .3322 .0796 0 0 0"
HIGH = ".5882 .3322 0 .0796 0 0"
TWO = ".6391 .3609 0 0 0 0"
PENALISED = ".7216 .2784 0 0 0 0"
LATE = ".6574 .2536 0 .0890 0 0"
CUT_AT_1 = ".5283 .2983 .0715 .0715 .0303 0"
ADDED = ".6061 .2339 .0348 .0820 .0348 .0083"
ADDED_ALL = ".6883 .1300 .0395 .0932 .0395 .0095"
FREE = {name: ("--top-k", "off") for name in engine_names() if name.startswith("transformers")}
"""What an engine needs to have no filter that was not asked for."""

TABLE = [
    *(("A", (*T, *FREE.get(name, ())), name, PLAIN) for name in engine_names()),
    *(("B", (*T, *P, *FREE.get(name, ())), name, FOUR)
      for name in ("transformers", "vllm-v1", "vllm-v1-pytorch", "vllm-v2", "vllm-v2-flashinfer",
                   "sglang-tree", "sglang-pytorch", "llama.cpp", "mlx-lm", "exllamav3", "lmdeploy",
                   "ollama", "tensorrt-llm-torch", "flashinfer-chain")),
    *(("C", (*T, *K), name, FOUR)
      for name in ("transformers", "vllm-v1-pytorch", "vllm-v2-flashinfer", "sglang-tree",
                   "sglang-chain", "tensorrt-llm-torch", "flashinfer-chain")),
    *(("C", (*T, *K), name, LOW)
      for name in ("vllm-v1", "vllm-v2", "sglang-pytorch", "llama.cpp", "mlx-lm", "exllamav3",
                   "ollama")),
    *(("D", (*T, *K, *P), name, HIGH) for name in ("transformers", "vllm-v1-pytorch")),
    *(("D", (*T, *K, *P), name, TWO) for name in ("vllm-v1", "vllm-v2", "exllamav3", "ollama")),
    *(("D", (*T, *K, *P), name, FOUR) for name in ("vllm-v2-flashinfer", "sglang-tree")),
    *(("D", (*T, *K, *P), name, LOW)
      for name in ("sglang-pytorch", "llama.cpp", "mlx-lm", "tensorrt-llm-torch")),
    ("D", (*T, *K, *P), "tensorrt-llm-cpp", ".6536 .3464 0 0 0 0"),
    *(("E", (*T, *M, *FREE.get(name, ())), name, FOUR)
      for name in ("transformers", "vllm-v1-pytorch", "vllm-v2", "sglang-pytorch",
                   "vllm-v2-flashinfer", "sglang-tree-min-p", "exllamav3", "ollama")),
    *(("E", (*T, *M), name, CUT_AT_1) for name in ("llama.cpp", "mlx-lm")),
    *(("F", (*T, *K, *P, *M), name, HIGH) for name in ("transformers", "vllm-v1-pytorch")),
    *(("F", (*T, *K, *P, *M), name, TWO) for name in ("vllm-v2", "exllamav3", "ollama")),
    *(("F", (*T, *K, *P, *M), name, FOUR) for name in ("vllm-v2-flashinfer", "sglang-tree-min-p")),
    *(("F", (*T, *K, *P, *M), name, LOW) for name in ("sglang-pytorch", "llama.cpp", "mlx-lm")),
    *(("G", (*T, *K, *P, *M, *R), name, PENALISED)
      for name in ("transformers", "vllm-v1-pytorch", "vllm-v2", "vllm-v2-flashinfer",
                   "exllamav3")),
    ("G", (*T, *K, *P, *M, *R), "sglang-pytorch", HIGH),
    ("G", (*T, *K, *P, *M, *R), "sglang-tree-min-p", TWO),
    *(("G", (*T, *K, *P, *M, *R), name, LATE) for name in ("llama.cpp", "mlx-lm")),
    *(("H", (*T, *R, *A), name, ADDED)
      for name in ("vllm-v1-pytorch", "vllm-v2", "vllm-v2-flashinfer")),
    *(("H", (*T, *R, *A), name, ".5447 .3076 .0352 .0737 .0313 .0075")
      for name in ("sglang-pytorch", "sglang-tree", "sglang-tree-min-p")),
    *(("H", (*T, *R, *A), name, ADDED_ALL) for name in ("llama.cpp", "mlx-lm", "exllamav3")),
    ("H", (*T, *R, *A), "tensorrt-llm-cpp", ".6615 .1548 .0471 .0895 .0380 .0091"),
]  # fmt: skip


def table_row(engine: str, options: tuple[str, ...], name: str = "reference") -> str:
    done = run(
        "what-if", f"--target-logits={LOGITS}", f"--draft-logits={LOGITS}", "--engine", engine,
        *options, "--history", "1,2", "--prompt-length", "1", "--format", "json",
    )  # fmt: skip
    shown = column(only_position(done.json()), name)
    return " ".join("0" if not v else f"{float(v):.4f}".replace("0.", ".") for v in shown)


@pytest.mark.parametrize(
    ("case", "options", "engine", "expected"), TABLE, ids=[f"{row[0]}-{row[2]}" for row in TABLE]
)
def test_the_row_that_the_engine_s_code_gives(
    case: str, options: tuple[str, ...], engine: str, expected: str
) -> None:
    assert table_row(engine, options) == expected


@pytest.mark.parametrize(
    ("case", "options", "expected"),
    [
        ("C", (*T, *K), FOUR),
        ("D", (*T, *K, *P), FOUR),
        ("E", (*T, *M), PLAIN),
        ("G", (*T, *K, *P, *M, *R), TWO),
    ],
)
def test_the_verified_row_of_sglang(case: str, options: tuple[str, ...], expected: str) -> None:
    assert table_row("sglang-tree-min-p", options, "output") == expected


B13 = ("--target", "1/2,3/10,1/10,1/10", "--draft", "2/5,2/5,1/10,1/10")
HALF = [Fraction(n, 10) for n in (5, 3, 1, 1)]


def what_if(*arguments: object, code: int = 1) -> dict[str, Any]:
    done = run("what-if", *arguments, "--format", "json")
    assert done.code == code, done.stderr or done.stdout
    return done.json()  # type: ignore[no-any-return]


def idents(report: dict[str, Any]) -> list[str]:
    return [finding["ident"] for step in report["steps"] for finding in step["findings"]]


def test_verified_rows_without_min_p_follow_another_target() -> None:
    """Field case B13: min-p on the bonus row only."""
    report = what_if(*B13, "--min-p", "1/4", "--engine", "vllm-v1-probabilistic")
    position = only_position(report)
    assert column(position, "reference") == [Fraction(5, 8), Fraction(3, 8), 0, 0]
    assert column(position, "output") == HALF
    assert exact(position["total_variation"]) == Fraction(1, 5)
    assert exact(position["acceptance_rate"]) == Fraction(9, 10)
    assert exact(position["reference_acceptance_rate"]) == Fraction(31, 40)
    assert {"lossless-for-another-target", "impossible-token"} <= set(idents(report))
    assert what_if(*B13, "--min-p", "1/4", "--engine", "vllm-v2", code=0)["verdict"] == "equal"


def test_bonus_rows_follow_their_own_list(tmp_path: Path) -> None:
    capture = tmp_path / "bonus.json"
    capture.write_text(
        '{"steps": [{"positions": [{"target": ["1/2", "3/10", "1/10", "1/10"],'
        '"draft": ["2/5", "2/5", "1/10", "1/10"]}], "bonus": ["1/2", "3/10", "1/10", "1/10"]}]}'
    )

    def bonus(engine: str) -> Any:
        done = run("check", capture, "--min-p", "1/4", "--engine", engine, "--format", "json")
        assert done.code == 1
        (step,) = done.json()["steps"]
        return step["bonus"]

    assert bonus("vllm-v1")["verdict"] == "equal"
    assert exact(bonus("sglang-tree-min-p")["total_variation"]) == Fraction(1, 5)


@pytest.mark.parametrize(
    "options", [("--top-k", "2"), ("--top-p", "3/5"), ("--min-p", "1/2"), ("--top-p", "79/100")]
)
def test_lmdeploy_verifies_without_filters(options: tuple[str, str]) -> None:
    report = what_if(*B13, *options, "--engine", "lmdeploy")
    position = only_position(report)
    assert column(position, "reference") == [Fraction(5, 8), Fraction(3, 8), 0, 0]
    assert column(position, "output") == HALF
    assert exact(position["total_variation"]) == Fraction(1, 5)
    assert {"lossless-for-another-target", "impossible-token"} <= set(idents(report))


def test_a_tied_cut_has_another_law_with_speculation() -> None:
    """vLLM: FlashInfer keeps all ties on ordinary rows, Triton the lowest id on verified ones."""
    options = (*B13, "--top-k", "3")
    position = only_position(what_if(*options, "--engine", "vllm-v2-flashinfer"))
    assert column(position, "reference") == HALF
    assert column(position, "output") == [Fraction(5, 9), Fraction(1, 3), Fraction(1, 9), 0]
    assert what_if(*options, "--engine", "vllm-v2", code=0)["verdict"] == "equal"


def test_penalties_of_mlx_lm_forget_the_prompt_when_it_speculates() -> None:
    logits = ("--target-logits=2,1,0", "--draft-logits=2,1,0", "--repetition-penalty", "2")
    prompt = ("--history", "0", "--prompt-length", "1")
    assert what_if(*logits, *prompt, "--engine", "mlx-lm")["verdict"] == "different"
    output = ("--history", "0", "--prompt-length", "0")
    assert what_if(*logits, *output, "--engine", "mlx-lm", code=0)["verdict"] == "equal"


def test_drafts_of_sglang_earlier_in_a_step_are_not_penalised(tmp_path: Path) -> None:
    capture = tmp_path / "two.json"
    row = '{"target": [2, 1, 0], "draft": [2, 1, 0]}'
    capture.write_text(
        '{"kind": "logits", "steps": [{"context": [2], "prompt_length": 1, "draft_tokens": [0, 1],'
        f'"positions": [{row}, {row}]}}]}}'
    )
    options = ("--engine", "sglang", "--repetition-penalty", "2", "--format", "json")
    (step,) = run("check", capture, *options).json()["steps"]
    assert [position["verdict"] for position in step["positions"]] == ["equal", "different"]


def test_greedy_and_clamped_temperatures() -> None:
    logits = ("--target-logits=1,0,0", "--draft-logits=0,1,0")

    def reference(engine: str, temperature: str) -> list[Any]:
        report = what_if(*logits, "-T", temperature, "--engine", engine, code=0)
        return column(only_position(report), "reference")

    assert reference("vllm", "0") == [1, 0, 0]
    assert reference("vllm", "1e-6") == reference("vllm", "0.01")
    assert reference("sglang", "1e-7") == [1, 0, 0]
    assert reference("ollama", "0") == [1, 0, 0]
    assert reference("tensorrt-llm-cpp", "1") == reference("textbook", "1.000001")


def test_the_grid_of_an_engine_is_applied_only_when_asked_for() -> None:
    rows = ("--target", "1/2,3/10,1/5", "--draft", "1/5,1/2,3/10", "--engine", "flashinfer-chain")
    assert what_if(*rows, code=0)["verdict"] == "equal"
    asked = what_if(*rows, "--uniform", preset_named("flashinfer-chain").uniform)
    variation = exact(only_position(asked)["total_variation"])
    assert variation is not None
    assert 0 < variation <= Fraction(1, 2**24)


def test_an_ensemble_is_the_mixture_of_both_laws() -> None:
    options = ("--target", "1/2,1/4,1/4", "--draft", "0,1/2,1/2", "--engine", "hf-ensemble")
    report = what_if(*options)
    assert column(only_position(report), "output") == [Fraction(n, 8) for n in (2, 3, 3)]
    assert "lossy-by-design" in idents(report)


STORED = Path(__file__).parent / "data" / "hf" / "assistant_processed_twice.npz"
"""One row of each side of two runs of transformers' assisted generation (temperature 0.8, top-p
0.95): raw logits, and the scores that the acceptance test was given."""


def masses(row: np.ndarray[Any, Any], recipe: Any) -> np.ndarray[Any, Any]:
    made = Row(FloatValues(row), Kind.LOGITS, Stage.RAW, NumberFormat.FLOAT32, "row")
    law = apply_recipe(recipe, made, RowContext()).law
    assert isinstance(law, FloatLaw)
    full = np.zeros(law.size)
    full[slice(None) if law.ids is None else law.ids] = law.weights
    return full / full.sum()


@pytest.mark.parametrize("name", ["top_k_off", "top_k_unset"])
def test_transformers_processes_its_drafts_twice(name: str) -> None:
    named = {"temperature": "0.8", "top_p": "0.95"}
    if name == "top_k_off":
        named["top_k"] = "off"
    roles = resolve_recipes([ProcessingOptions(target=named)], preset_named("hf")).recipes
    raw = resolve_recipes([]).recipes[Role.REFERENCE]
    stored = np.load(STORED)
    for side, role in (("draft", Role.ACCEPT_DRAFT), ("target", Role.ACCEPT_TARGET)):
        made = masses(stored[f"{name}_{side}_logits"], roles[role])
        seen = masses(stored[f"{name}_{side}_scores"], raw)
        assert ((made > 0) == (seen > 0)).all()
        assert np.abs(made - seen).sum() < 1e-5
    once = masses(stored[f"{name}_draft_logits"], roles[Role.REFERENCE])
    twice = masses(stored[f"{name}_draft_scores"], raw)
    assert (once > 0).sum() > (twice > 0).sum() > 1
    assert roles[Role.DRAFTED_FROM] == roles[Role.ACCEPT_DRAFT] == roles[Role.RESIDUAL_DRAFT]
